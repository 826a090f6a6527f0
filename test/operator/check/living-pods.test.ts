/** What `check` finds of reservations by whether their pods live, as far as the node shows that. */

import { test } from "tap";
import { check } from "../../../src/operator/check/check.ts";
import type { Interrupt } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import type { Machine, Process } from "../../harness/proc.ts";
import { attachmentCall, configuration } from "../../harness/runtime-call.ts";
import { configureNet, findingsOn, memoryNode, RESULTS, remember, runOn } from "../memory-node.ts";
import type { PrintedFinding } from "../node.ts";

/**
 * What shows whether a container lives. `cache`: libcni's cache has its namespace, which is mounted. `process`: the cache has
 * none, as before libcni 1.3, and a process has the address. `mount`: as `cache`, and the namespace has the address, without
 * a process. `gone`: the namespace in the cache is gone. `nothing`: the cache has none, and a mounted one may be any container's.
 */
type Shown = "cache" | "process" | "mount" | "gone" | "nothing";

/** A node where the network `net` has containers, and the namespaces there. */
interface Node {
  readonly machine: MemoryMachine;
  readonly kernel: Machine;
}

/** Makes the node with `c1`, `c2` and so on, of the pods `default/c1` …, which have these addresses. */
function nodeWith(shown: readonly Shown[], addresses = ["10.0.0.2", "10.0.0.3", "10.0.0.4"]): Node {
  const machine = memoryNode({ lock: "" });
  configureNet(machine, "10.0.0.0/28");
  const processes: Record<number, Process> = {};
  const mounted: Record<string, number> = shown.includes("nothing") ? { "/run/netns/any": 80 } : {};
  const inNamespaces: Record<number, readonly string[]> = { 80: ["172.17.0.2"] };
  shown.forEach((by, at) => {
    const [id, address = "", namespace] = [`c${at + 1}`, addresses[at], at + 50];
    machine.disk.put(fileOf(address), `${id}\r\neth0`);
    const known = { pod: `default/${id}`, addresses: [`${address}/28`] };
    const isNoted = by !== "process" && by !== "nothing";
    remember(machine, id, isNoted ? { ...known, netns: `/run/netns/${id}` } : known);
    if (by === "process") processes[at + 100] = { namespace, addresses: [address] };
    if (by === "cache" || by === "mount") mounted[`/run/netns/${id}`] = namespace;
    inNamespaces[namespace] = [by === "mount" ? address : "169.254.1.1"];
  });
  return { machine, kernel: { processes, mounted, addresses: inNamespaces } };
}

function fileOf(address: string): string {
  return `/data/net/${address}`;
}

function rename({ machine: { disk } }: Node): void {
  const text = disk.readFile("/conf/net.conf", 1e6);
  disk.put("/conf/net.conf", text.replace('"name":"net"', '"name":"pods"'));
  disk.makeDirectories("/data/pods");
}

const unconfigured = { code: "unconfigured-network", path: "/data/net" };
const place = "--conf-dir /conf --data-dir /data --cache-dir /cache";

/** The pods of a node, what happens to it, and all that is found then. */
const cases: Readonly<
  Record<
    string,
    readonly [pods: () => Node, spoil: (node: Node) => void, findings: readonly object[]]
  >
> = {
  "a network without a configuration, of which pods run": [
    () => nodeWith(["cache", "cache", "gone"]),
    ({ machine }) => machine.disk.unlink("/conf/net.conf"),
    [
      {
        ...unconfigured,
        severity: "error",
        message:
          "no configuration names this network; it has 2 running pods: default/c1, default/c2",
        remedy:
          /^does the runtime read another directory than \/conf\? .* Otherwise restart these pods, then run gc: /,
        commands: [`host-local gc net ${place}`],
      },
    ],
  ],
  "a network without a configuration, of which a pod may run": [
    () => nodeWith(["nothing"]),
    ({ machine }) => machine.disk.unlink("/conf/net.conf"),
    [
      {
        ...unconfigured,
        severity: "info",
        message: "no configuration names this network; whether 1 container of it runs is not known",
        remedy: /^if the runtime has none of its containers, release/,
      },
    ],
  ],
  "a network that was renamed while its pods live": [
    () => nodeWith(["cache", "gone"]),
    rename,
    [
      {
        ...unconfigured,
        severity: "error",
        message:
          "no configuration names this network, but pods hands out its addresses, too: 10.0.0.2 (default/c1)",
        commands: [`host-local list net ${place}`],
      },
    ],
  ],
  "a network that was renamed, and has no pod any more": [
    () => nodeWith(["gone"]),
    (node) => {
      rename(node);
      node.machine.wait(300_000);
    },
    [],
  ],
  "pods of a former range, and one of which it is not known": [
    () =>
      nodeWith(
        ["cache", "mount", "process", "nothing"],
        ["203.0.113.2", "203.0.113.3", "203.0.113.4", "203.0.113.5"],
      ),
    () => {},
    [
      {
        code: "out-of-range",
        severity: "warning",
        path: fileOf("203.0.113.5"),
        commands: [`host-local release 203.0.113.5 --network net ${place}`],
      },
      {
        code: "out-of-range",
        severity: "warning",
        path: "/data/net",
        message:
          "3 running pods have addresses outside all ranges (10.0.0.1-10.0.0.14): default/c1 (203.0.113.2), default/c2 (203.0.113.3), default/c3 (203.0.113.4)",
        remedy:
          /^restart these pods where capacity shows that addresses are free: they get one of a range/,
        commands: [`host-local capacity net ${place}`, `host-local list net ${place}`],
      },
    ],
  ],
  "a pod of a former range": [
    () => nodeWith(["process"], ["203.0.113.2"]),
    () => {},
    [
      {
        code: "out-of-range",
        message:
          "1 running pod has an address outside all ranges (10.0.0.1-10.0.0.14): default/c1 (203.0.113.2)",
        remedy: /^restart these pods where /,
      },
    ],
  ],
  "a pod of a former range that is gone, whose address the node has": [
    () => nodeWith(["gone"], ["203.0.113.2"]),
    ({ kernel }) =>
      Object.assign(kernel.processes ?? {}, { 1: { namespace: 1, addresses: ["203.0.113.2"] } }),
    [
      {
        code: "out-of-range",
        message: "203.0.113.2 is outside all ranges, held by default/c1 (container c1)",
        remedy: /^restart its pod; if that is gone, release the address with --force: /,
        // Without --force it would refuse.
        commands: [],
      },
    ],
  ],
  "an address that leaked, outside of all ranges: gc releases it, wherever it is": [
    () => nodeWith(["gone"], ["203.0.113.2"]),
    ({ machine }) => machine.wait(11 * 60_000),
    [{ code: "leaked-reservation", path: "/data/net" }],
  ],
  "excluded addresses of a living pod, and of one that may live": [
    () => nodeWith(["cache", "nothing"]),
    ({ machine: { disk } }) => {
      const text = disk.readFile("/conf/net.conf", 1e6);
      const exclude = '"exclude":["10.0.0.2","10.0.0.3"],"subnet"';
      disk.put("/conf/net.conf", text.replace('"subnet"', exclude));
    },
    [
      {
        code: "out-of-range",
        message: "10.0.0.3 is excluded (ipam.exclude), held by default/c2 (container c2)",
        remedy: /^if its container is dead, release the address; otherwise restart its pod/,
        commands: [`host-local release 10.0.0.3 --network net ${place}`],
      },
      {
        code: "out-of-range",
        message: "10.0.0.2 is excluded (ipam.exclude), held by default/c1 (container c1)",
        remedy: "restart its pod, which then gets another address",
        commands: [],
      },
    ],
  ],
  "young reservations, whatever is known of them": [
    () => nodeWith(["gone", "mount"]),
    ({ machine }) => machine.wait(9 * 60_000),
    [],
  ],
  "old ones: one that leaked, one in a sandbox without a process, and one of which it is not known":
    [
      () => nodeWith(["gone", "mount", "nothing"]),
      ({ machine }) => machine.wait(11 * 60_000),
      [
        {
          code: "leaked-reservation",
          severity: "warning",
          path: "/data/net",
          message:
            "1 of 3 reservations leaked: 10.0.0.2 of default/c1 (container c1): its network namespace /run/netns/c1 is gone",
          commands: [`host-local gc net ${place}`],
        },
        {
          code: "sandbox-without-process",
          severity: "info",
          message:
            "1 of 3 reservations is of a sandbox without a process: default/c2 (10.0.0.3); the network namespace /run/netns/c2 has this address; no process runs there",
          commands: [],
        },
        {
          code: "leaks-unknown",
          severity: "info",
          message:
            /^1 of 3 reservations may have leaked, which cannot be seen: no process has the address, and the namespace of its container is not known; /,
        },
      ],
    ],
};

for (const [what, [pods, spoil, expected]] of Object.entries(cases)) {
  test(`${what}: ${expected.length === 0 ? "nothing" : "found"}`, async (t) => {
    const node = pods();
    spoil(node);
    const findings = findingsOn(node.machine, node);
    t.match(findings, expected);
    t.equal(findings.length, expected.length, findings.map(({ message }) => message).join("; "));
    for (const [at, finding] of findings.entries()) {
      const { commands } = (expected[at] ?? {}) as { commands?: readonly unknown[] };
      if (commands !== undefined)
        t.equal(finding.commands.length, commands.length, "no other command");
    }
  });
}

test("a renamed network, and a new pod with its address, are named if the new one is asked for", async (t) => {
  const node = nodeWith(["cache", "cache"]);
  rename(node);
  t.match(findingsOn(node.machine, { ...node, operands: ["pods"] }), [
    { ...unconfigured, severity: "error" },
  ]);

  node.machine.disk.put("/data/pods/10.0.0.2", "c2\r\neth0");
  const ofC2 = { pod: "default/c2", netns: "/run/netns/c2", addresses: ["10.0.0.2/28"] };
  remember(node.machine, "c2", ofC2, "pods");
  t.ok(findingsOn(node.machine, node).some(({ code }) => code === "address-in-use-twice"));
});

test("a reservation that is released while the others are read: nothing", async (t) => {
  const node = nodeWith(["cache"]);
  const { machine } = node;
  machine.disk.put(fileOf("10.0.0.9"), "for the printer");
  t.equal(findingsOn(machine, node).length, 1, "it is found if it lasts");

  let left = 1;
  const meanwhile = (): void => machine.disk.unlink(fileOf("10.0.0.9"));
  const interrupt: Interrupt = ({ operation, path }) =>
    operation === "list" && path === "/data/net" && --left === 0
      ? { kind: "pause", meanwhile }
      : undefined;
  t.same(findingsOn(machine, { ...node, interrupt }), []);
  t.equal(left, 0);
});

test("an address outside of all ranges, of a pod that ends while check runs: nothing", async (t) => {
  const node = nodeWith(["cache"], ["203.0.113.2"]);
  t.equal(findingsOn(node.machine, node).length, 1, "it is found if it lasts");

  // The runtime has removed the namespace, and the DEL is still under way when check ends.
  const mounted = { ...node.kernel.mounted };
  const end = { kind: "pause", meanwhile: () => delete mounted["/run/netns/c1"] } as const;
  let left = 2;
  const interrupt: Interrupt = ({ operation, path }) =>
    operation === "list" && path === RESULTS && --left === 0 ? end : undefined;
  const kernel = { ...node.kernel, mounted };
  t.same(findingsOn(node.machine, { kernel, interrupt }), []);
  t.equal(left, 0);
});

/** Runs `check` on a node that has been up for so many seconds, with reservations of eleven minutes, unless it is said otherwise. */
function checkAfter(
  uptime: number,
  shown: readonly Shown[],
  { minutes = 11, words = [] }: { minutes?: number; words?: readonly string[] } = {},
) {
  const { machine, kernel } = nodeWith(shown, ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"]);
  machine.wait(minutes * 60_000);
  const options = Object.fromEntries(words.map((word) => [word, ""]));
  return runOn(machine, check, { kernel: { ...kernel, uptime }, options });
}

test("right after a start of the node it is said that leaks are not judged", async (t) => {
  const shown = ["gone", "mount", "nothing", "process"] as const;
  const early = checkAfter(599.99, shown);
  t.strictSame(early.document(), {
    findings: [
      {
        code: "leaks-unknown",
        severity: "info",
        network: "net",
        path: "/data/net",
        message:
          "3 of 4 reservations cannot be judged until 12:12 UTC, ten minutes after the start of the node: before, its runtime may be about to release what leaked, or what is for a lost sandbox",
        remedy: "check again after that, or run gc, which lists now what dead containers hold",
        commands: [`host-local gc net ${place}`],
        repaired: false,
      },
    ],
    omitted: 0,
    counts: { error: 0, warning: 0, info: 1, repaired: 0 },
    networks: ["net"],
  });
  t.equal(early.exitCode, 0, "it is no problem of the node");
  t.equal(
    checkAfter(599.99, shown, { words: ["--node-problem-detector"] }).text(),
    "OK: host-local check found no problems\n",
  );

  const { findings } = checkAfter(600, shown).document() as { findings: PrintedFinding[] };
  t.same(
    findings.map(({ code }) => code),
    ["leaked-reservation", "sandbox-without-process", "leaks-unknown"],
  );
});

test("a namespace that only a descriptor holds may be that of a sandbox which is lost", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/28");
  const path = "/run/netns/c1";
  machine.kernel.hasHandles = true;
  machine.kernel.mount(path);
  const document = configuration("/data", { subnet: "10.0.0.0/28" });
  const cniArgs = "IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=c1";
  const { exitCode } = machine.runPlugin(
    attachmentCall("ADD", { containerId: "c1", netns: path, cniArgs }, document),
  );
  t.equal(exitCode, 0);
  machine.kernel.open(path);
  machine.kernel.unmount(path);

  machine.wait(9 * 60_000);
  t.same(findingsOn(machine), [], "its runtime may be about to end it");
  machine.wait(2 * 60_000);
  t.match(findingsOn(machine), [
    {
      code: "sandbox-without-process",
      severity: "info",
      message: / c1 .10\.0\.0\.2.; .* lives, though \/run\/netns\/c1 is gone$/,
      commands: [],
    },
  ]);
});

test("there are no problems with living pods right after a start of the node, either", async (t) => {
  t.match(checkAfter(300, ["process", "cache"]).text(), /^No problems found/);
});

test("right after a start of the node neither young reservations nor a lost sandbox are judged", async (t) => {
  for (const [shown, count] of [
    [["gone", "mount", "nothing"], "3 of 3 reservations"],
    [["mount", "process"], "1 of 2 reservations"],
  ] as const) {
    const { findings } = checkAfter(300, shown, { minutes: 4 }).document() as {
      findings: PrintedFinding[];
    };
    t.match(findings, [{ code: "leaks-unknown", message: `${count} cannot be judged until ` }]);
  }
});
