/** What check says of addresses and networks of the node itself. */

import { test } from "tap";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { type LinkFacts, linksText } from "../../harness/network-links.ts";
import type { Machine } from "../../harness/proc.ts";
import { configure, findingsOn, memoryNode, remember } from "../memory-node.ts";

/** The network `net` of 198.51.100.0/28, with the bridge `cni0`. */
function configureNet(machine: MemoryMachine): void {
  configure(machine, "net.conf", {
    ...{ cniVersion: "1.0.0", name: "net", type: "bridge", bridge: "cni0", isGateway: true },
    ipam: { type: "host-local", dataDir: "/data", subnet: "198.51.100.0/28" },
  });
}

/** Interfaces with one address each, such as `eth1 198.51.100.9/24`. */
function interfacesOf(lines: readonly string[]): Readonly<Record<string, LinkFacts>> {
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", address = ""] = line.split(" ");
      return [name, [address]];
    }),
  );
}

/**
 * What is found where the node has these addresses on interfaces, such as `eth1 198.51.100.9/24`, and these routers.
 */
function found(
  machine: MemoryMachine,
  lines: readonly string[],
  kernel: Machine = {},
  routers: readonly string[] = [],
) {
  const addresses = lines.map((line) => line.replace(/^\S* |\/.*$/g, ""));
  const own = { namespace: 1, addresses, tables: { route: routers.map(routeBy).join("") } };
  const processes = { 1: own, 99: own, ...kernel.processes };
  const cni0 = { kind: "bridge", addresses: ["198.51.100.1/28"] };
  const text = linksText({ lo: [], cni0, ...interfacesOf(lines) });
  return findingsOn(machine, { kernel: { ...kernel, processes }, networkLinks: () => text });
}

/** A line of `/proc/net/route`, by a router such as `eth0 198.51.100.1`. */
function routeBy(router: string): string {
  const [interfaceName = "", address = ""] = router.split(" ");
  const octets = address.split(".").map((one) => Number(one).toString(16).padStart(2, "0"));
  const gateway = octets.reverse().join("").toUpperCase();
  return `${interfaceName}\t00000000\t${gateway}\t0003\t0\t0\t0\t00000000\t0\t0\t0\n`;
}

test("the node's own address is named before an ADD, and its holder after one: in a container", async (t) => {
  const machine = memoryNode({});
  configureNet(machine);
  t.match(found(machine, ["eth1 198.51.100.9/32"], { isContained: true }), [
    {
      code: "node-address",
      severity: "warning",
      message:
        "the node itself has 198.51.100.9 (eth1), and it is one of the range: ADD passes over it, but the Go plugin would hand it out",
      remedy: 'exclude it ("exclude": ["198.51.100.9"] in ipam)',
    },
  ]);

  machine.disk.put("/data/net/198.51.100.9", "c1\r\neth0");
  remember(machine, "c1", {
    ...{ netns: "/run/netns/c1", addresses: ["198.51.100.9/28"], pod: "default/web" },
  });
  const pod = { namespace: 50, addresses: ["198.51.100.9"] };
  const after = found(machine, ["eth1 198.51.100.9/32"], {
    isContained: true,
    processes: { 7: pod },
    mounted: { "/run/netns/c1": 50 },
  });
  t.match(after, [
    {
      code: "node-address",
      severity: "error",
      message: "the node itself has 198.51.100.9 (eth1), and default/web (container c1) holds it",
      remedy: /, then restart this pod$/,
    },
  ]);
  t.equal(after.length, 1, "and nothing else");
});

test("a node that has flannel's address with its udp backend: nothing", async (t) => {
  const machine = memoryNode({});
  configureNet(machine);
  t.same(found(machine, ["flannel0 198.51.100.0/16"]), []);
});

test("a subnet that is that of its former bridge: found", async (t) => {
  const machine = memoryNode({});
  configureNet(machine);
  const findings = found(machine, ["x0 198.51.100.1/28"]).filter(
    ({ code }) => code !== "bridge-address",
  );
  t.match(
    findings.map(({ code, severity, message }) => `${severity} ${code}: ${message}`),
    ["shares addresses with 198.51.100.0/28 of x0"],
  );
  t.equal(findings.length, 1);
});

test("what a pod has where the command runs in it is not the node's", async (t) => {
  const machine = memoryNode({ "198.51.100.2": "c1\r\neth0" });
  configureNet(machine);
  remember(machine, "c1", { netns: "/run/netns/c1", addresses: ["198.51.100.2/28"] });
  const pod = { namespace: 50, addresses: ["198.51.100.2"] };
  const mounted = { "/run/netns/c1": 50 };
  for (const isContained of [false, true]) {
    const processes = isContained ? { 1: pod, 99: pod } : { 99: pod, 1: { namespace: 1 } };
    const kernel = { isContained, processes, mounted };
    const networkLinks = () => linksText({ lo: [], eth0: ["198.51.100.2/28"] });
    t.same(findingsOn(machine, { kernel, networkLinks }), [], `contained: ${isContained}`);
  }
});

for (const [what, reservations, addresses, expected] of [
  ["in place of the gateway", {}, ["198.51.100.14/28"], ["bridge-address"]],
  [
    "besides the gateway, and a pod, too",
    { "198.51.100.14": "c1\r\neth0" },
    ["198.51.100.1/28", "198.51.100.14/28"],
    ["node-address"],
  ],
] as const) {
  test(`an address that the network's bridge has ${what}: ${expected.join()}`, async (t) => {
    const machine = memoryNode(reservations);
    configureNet(machine);
    const own = { namespace: 1, addresses: ["198.51.100.14"] };
    const kernel = { processes: { 1: own, 99: own } };
    const networkLinks = () => linksText({ cni0: { kind: "bridge", addresses } });
    const found = findingsOn(machine, { kernel, networkLinks }).filter(
      ({ severity }) => severity !== "info",
    );
    t.same(
      found.map(({ code }) => code),
      expected,
    );
  });
}

/** The network `net` of 198.51.100.0/28 in the LAN of eth0. */
const onLan = { type: "macvlan", master: "eth0" };
const router = "eth0 198.51.100.9";

for (const [what, plugin, expected] of [
  [
    "in a range of which the link is not known",
    { type: "macvlan" },
    [
      "warning node-address: 198.51.100.9 is a router of the node (eth0), and one of the range: a pod that gets it takes the router from the network",
    ],
  ],
  ["in the range of macvlan on another interface", { ...onLan, master: "eth1" }, []],
] as const) {
  test(`a router ${what}: ${expected.length === 0 ? "nothing" : "found"}`, async (t) => {
    const machine = memoryNode({});
    configure(machine, "net.conf", {
      ...{ cniVersion: "1.0.0", name: "net", ...plugin },
      ipam: { type: "host-local", dataDir: "/data", subnet: "198.51.100.0/28" },
    });
    const findings = found(machine, ["eth0 198.51.100.3/28"], {}, [router])
      // What the node itself has in the range is tested above.
      .filter(({ message }) => !message.startsWith("the node itself has"))
      .filter(({ code }) => code !== "bridge-address");
    t.same(
      findings.map(({ severity, code, message }) => `${severity} ${code}: ${message}`),
      expected,
    );
    for (const { remedy } of findings) {
      t.equal(remedy, 'exclude it ("exclude": ["198.51.100.9"] in ipam)');
    }
  });
}

test("a pod on a bridge that is itself the router of the node is none of another's", async (t) => {
  const machine = memoryNode({ "198.51.100.9": "c1\r\neth0" });
  configure(machine, "net.conf", {
    ...{ cniVersion: "1.0.0", name: "net", type: "bridge", bridge: "eth0" },
    ipam: { type: "host-local", dataDir: "/data", subnet: "198.51.100.0/28" },
  });
  const pod = { namespace: 50, addresses: ["198.51.100.9"] };
  t.same(
    found(machine, ["eth0 198.51.100.3/28"], { processes: { 7: pod } }, [router]).filter(
      ({ message }) => message.includes("router"),
    ),
    [],
  );
});

test("a router whose address a pod holds is an error", async (t) => {
  const machine = memoryNode({ "198.51.100.9": "c1\r\neth0" });
  configure(machine, "net.conf", {
    ...{ cniVersion: "1.0.0", name: "net", ...onLan },
    ipam: { type: "host-local", dataDir: "/data", subnet: "198.51.100.0/28" },
  });
  const netns = "/run/netns/c1";
  remember(machine, "c1", { netns, addresses: ["198.51.100.9/28"], pod: "default/web" });
  const pod = { namespace: 50, addresses: ["198.51.100.9"] };
  const kernel = { processes: { 7: pod }, mounted: { [netns]: 50 } };
  t.match(found(machine, ["eth0 203.0.113.7/24"], kernel, [router]), [
    {
      code: "node-address",
      severity: "error",
      path: "/data/net/198.51.100.9",
      message:
        "198.51.100.9 is a router of the node (eth0), and default/web (container c1) holds it",
      remedy: /, then restart this pod, unless it is that router$/,
    },
  ]);
});

for (const [what, address, hop, expected] of [
  [
    "by which a node without a network goes out",
    "eth0 203.0.113.7/32",
    "eth0 198.51.100.1",
    ["warning: the subnet 198.51.100.0/28 has the router 198.51.100.1 of the node (eth0)"],
  ],
  ["on the bridge of the network", "eth0 203.0.113.7/24", "cni0 198.51.100.9", []],
] as const) {
  test(`a router ${what}, where the node routes: ${expected.length === 0 ? "nothing" : "found"}`, async (t) => {
    const machine = memoryNode({});
    configureNet(machine);
    const findings = found(machine, [address], {}, [hop]).filter(
      ({ code }) => code === "node-network" || code === "node-address",
    );
    t.same(
      findings.map(({ severity, message }) => `${severity}: ${message}`),
      expected,
    );
    for (const { remedy } of findings) t.match(remedy, /^give the network a subnet that no other/);
  });
}

test("the routers are not asked for where the command runs in the namespace of a pod", async (t) => {
  const machine = memoryNode({});
  configure(machine, "net.conf", {
    ...{ cniVersion: "1.0.0", name: "net", ...onLan },
    ipam: { type: "host-local", dataDir: "/data", subnet: "198.51.100.0/28" },
  });
  const tables = { route: routeBy(router) };
  const kernel = { processes: { 99: { namespace: 50, tables }, 1: { namespace: 1, tables } } };
  t.same(findingsOn(machine, { kernel }), []);
});
