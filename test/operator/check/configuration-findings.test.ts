/** What valid configurations say in vain. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import { check } from "../../../src/operator/check/check.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { linksText } from "../../harness/network-links.ts";
import {
  configure,
  findingsOn,
  type MemoryRun,
  memoryNode,
  remember,
  runOn,
} from "../memory-node.ts";
import type { PrintedFinding } from "../node.ts";

// The bundler puts it in.
Object.assign(globalThis, { BUILD_VERSION: "v0.0.0" });

function found(machine: MemoryMachine): readonly PrintedFinding[] {
  return findingsOn(machine).filter(({ code }) => code !== "leaks-unknown");
}

function plugin(type: string, subnet = "10.0.0.0/29"): JsonObject {
  return { type, ipam: { type: "host-local", subnet } };
}

/** The file of `net` after one of another network. */
function nodeBehind(first: JsonObject, file = "net.conf"): MemoryMachine {
  const machine = memoryNode({});
  configure(machine, "00-first.conf", first);
  configure(machine, file, { name: "net", ...plugin("bridge") });
  return machine;
}

const cilium = { name: "cilium", type: "cilium-cni" };

test("that the file of another network comes first is said, and is no problem by itself", async (t) => {
  t.match(found(nodeBehind(cilium)), [
    {
      ...{ code: "shadowed-configuration", severity: "info", network: "net" },
      path: "/conf/net.conf",
      message:
        "containerd and CRI-O do not use it: /conf/00-first.conf comes first, so that pods get addresses of cilium",
      remedy: /^drain the node, then move the file that is not meant out of its directory/,
    },
  ]);
});

/** What is found where a pod of this name runs, of the network `net` that no runtime uses any more. */
function foundBesidePod(machine: MemoryMachine, pod: string, run: MemoryRun = {}) {
  const netns = "/run/netns/c1";
  machine.disk.put("/data/net/10.0.0.2", "c1\r\neth0");
  remember(machine, "c1", { netns, addresses: ["10.0.0.2/29"], pod });
  const kernel = { mounted: { [netns]: 50 }, addresses: { 50: ["10.0.0.2"] } };
  return findingsOn(machine, { kernel, ...run }).filter(
    ({ code }) => code === "shadowed-configuration",
  );
}

test("but not where a pod of Kubernetes runs that has the network from before", async (t) => {
  const [finding] = foundBesidePod(nodeBehind(cilium), "default/web");
  t.match(finding, {
    severity: "warning",
    message:
      "containerd and CRI-O do not use it: /conf/00-first.conf comes first, so that pods get addresses of cilium; its pods of Kubernetes run, and their DEL is called with another configuration: default/web",
  });
  t.match(foundBesidePod(nodeBehind(cilium), "web"), [{ severity: "info" }], "podman's");
});

test("pods of a file that the runtime does not read any more are an error", async (t) => {
  const machine = memoryNode({});
  machine.disk.put("/etc/containerd/config.toml", CONTAINERD_ELSEWHERE);
  machine.disk.makeDirectories("/etc/cni/net.d");
  const document = { cniVersion: "1.0.0", name: "net", ...plugin("ptp") };
  machine.disk.put("/etc/cni/net.d/net.conf", JSON.stringify(document));
  t.match(foundBesidePod(machine, "default/web", ELSEWHERE), [
    {
      severity: "error",
      message:
        /: containerd reads \/etc\/cni\/other; its pods of Kubernetes run, .*: default\/web$/,
      remedy: /^name this directory in the configuration of the runtime again, or move the file/,
    },
  ]);
});

const CONTAINERD_ELSEWHERE = `version = 3
[plugins."io.containerd.cri.v1.runtime".cni]
conf_dir = "/etc/cni/other"
`;

for (const [what, machine] of [
  ["that calls it, as multus", nodeBehind({ name: "multus", type: "multus-shim" })],
  ["beside podman's own network", nodeBehind(cilium, "87-podman.conf")],
] as const) {
  test(`nothing is said of a first file ${what}`, async (t) => {
    t.same(found(machine), []);
  });
}

const ELSEWHERE = { without: ["--conf-dir"] };

test("of one network in two directories, that the bridge is as the other one says is an info", async (t) => {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
  for (const [directory, subnet] of [
    ["/etc/cni/net.d", "10.0.0.0/29"],
    ["/etc/kubernetes/cni/net.d", "10.9.0.0/29"],
  ] as const) {
    const ipam = { type: "host-local", subnet };
    const plugin = { type: "bridge", bridge: "cni0", isGateway: true, ipam };
    machine.disk.makeDirectories(directory);
    machine.disk.put(`${directory}/net.conf`, JSON.stringify({ name: "net", ...plugin }));
  }
  const links = linksText({ cni0: { kind: "bridge", addresses: ["10.0.0.1/29"] } });
  const found = findingsOn(machine, { ...ELSEWHERE, networkLinks: () => links });
  t.match(
    found.filter(({ code }) => code === "bridge-address"),
    [
      {
        ...{ severity: "info", path: "/etc/kubernetes/cni/net.d/net.conf", commands: [] },
        message: /; the other one is the gateway of net in \/etc\/cni\/net\.d\/net\.conf$/,
        remedy: /otherwise move the file that is not meant out of its directory/,
      },
    ],
  );
  t.same(
    found.filter(({ severity }) => severity !== "info"),
    [],
  );
});

test("what is wrong with an empty network whose directory no runtime reads is an info", async (t) => {
  const machine = memoryNode({});
  const ipam = { type: "host-local", subnet: "10.0.0.0/29", exclude: ["10.0.0.0/29"] };
  const directory = "/etc/kubernetes/cni/net.d";
  machine.disk.put(`${directory}/a.conf`, JSON.stringify({ name: "old", type: "ptp", ipam }));
  machine.disk.put(`${directory}/b.conf`, "{");
  machine.disk.put("/etc/containerd/config.toml", "");
  const severities = new Map(
    findingsOn(machine, ELSEWHERE).map(({ code, severity }) => [code, severity]),
  );
  t.equal(severities.get("add-fails"), "info");
  t.equal(severities.get("unreadable-configuration"), "info");
  t.match(runOn(machine, capacity, ELSEWHERE).text(), "old");
});

test("a copy is not, nor one beside a file that no runtime can use, or of another namespace", async (t) => {
  for (const [file, document] of [
    ["a.conf", { name: "net", ...plugin("ptp") }],
    ["a.json", { name: "net", plugins: [plugin("bridge")] }],
    ["a.conf", { name: "multus", type: "multus", delegates: [{ name: "net", ...plugin("ptp") }] }],
    ["default/a.conflist", { name: "net", plugins: [plugin("bridge")] }],
  ] as const) {
    const machine = memoryNode({});
    machine.disk.makeDirectories("/conf/default");
    configure(machine, file, document);
    configure(machine, "b.conf", { name: "net", ...plugin("ptp") });
    const codes = found(machine).map(({ code }) => code);
    t.notOk(codes.includes("shadowed-configuration"), file);
  }
});

test("the ranges of a shadowed configuration are counted nowhere", async (t) => {
  const hosts = Array.from({ length: 29 }, (_, index) => `10.0.0.${index + 2}`);
  const machine = memoryNode(Object.fromEntries(hosts.map((name) => [name, `${name}\r\neth0`])));
  configure(machine, "a.conf", { name: "net", ...plugin("ptp", "10.0.0.0/27") });
  configure(machine, "b.conf", { name: "net", ...plugin("ptp", "10.9.0.0/24") });
  const report = runOn(machine, capacity);
  t.equal(report.exitCode, 1);
  t.match(report.document(), {
    networks: [{ configuration: "/conf/a.conf", ranges: [{ free: 0n }] }],
  });
  t.match(report.text(), "net holds 29 pods.\n");
  t.notMatch(report.text(), "10.9.0.0");
  t.match(runOn(machine, capacity, { options: { "--max-pods": "" } }).text(), "29\n");
  const samples = runOn(machine, metrics).text();
  t.match(samples, 'range="10.0.0.1-10.0.0.30"} 29');
  t.notMatch(samples, "10.9.0.1");
  t.strictSame(
    found(machine).map(({ code }) => code),
    ["shadowed-configuration", "range-full"],
  );
});

test("a key that nothing reads is named with the one that is meant, of each plugin", async (t) => {
  const machine = memoryNode({});
  const ipam = { type: "host-local", subnet: "10.0.0.0/29", excludes: ["10.0.0.3"] };
  const plugins = [
    { type: "bridge", ipam },
    { type: "host-local", gcOnly: true, ipam },
  ];
  configure(machine, "a.conflist", { cniVersion: "1.1.0", name: "net", disableGc: true, plugins });
  const about = { code: "unread-key", severity: "info", network: "net", path: "/conf/a.conflist" };
  t.match(found(machine), [
    { ...about, message: "nothing reads disableGc; did you mean disableGC?" },
    {
      ...about,
      message: "nothing reads plugins[0].ipam.excludes; did you mean plugins[0].ipam.exclude?",
    },
    {
      ...about,
      message: "nothing reads plugins[1].ipam.excludes; did you mean plugins[1].ipam.exclude?",
    },
  ]);
  t.equal(runOn(machine, check).exitCode, 0, "it is no mistake of the node");
});

test("a file that nearly uses this plugin is an error, and its network has a configuration", async (t) => {
  for (const [document, message] of [
    [
      { name: "net", type: "bridge", ipma: { type: "host-local", subnet: "10.0.0.0/29" } },
      "nothing reads ipma; did you mean ipam? ",
    ],
    [
      { name: "net", type: "bridge", ipam: { type: "host-locla", subnet: "10.0.0.0/29" } },
      "no plugin of this node is named host-locla, the type of ipam; did you mean host-local?",
    ],
  ] as const) {
    const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
    configure(machine, "a.conf", document);
    const about = { code: "unreadable-configuration", severity: "error", path: "/conf/a.conf" };
    t.match(found(machine), [{ ...about, message }], "nor are its pods to be restarted");
  }
});

test("a file that no runtime uses may be as it is", async (t) => {
  const machine = memoryNode({});
  configure(machine, "a.conf", { name: "net", type: "bridge", ipam: { type: "host-local" } });
  configure(machine, "b.conf", { name: "net", type: "bridge", ipam: { type: "host-locla" } });
  t.notMatch(found(machine), [{ path: "/conf/b.conf" }]);
});

test('ipam as ["host-local"] is refused by libcni, and named', async (t) => {
  const machine = memoryNode({});
  configure(machine, "a.conflist", {
    ...{ name: "net", cniVersion: "1.0.0" },
    plugins: [{ type: "bridge", ipam: ["host-local"] }],
  });
  const findings = findingsOn(machine);
  t.match(findings, [{ code: "unreadable-configuration", severity: "error" }]);
  t.match(findings[0]?.message, "expected an object at plugins[0].ipam, found a list");
});
