/** What `check` says of addresses that pods have otherwise than they are reserved: which pod is to be restarted, by name. */

import { test } from "tap";
import type { Context } from "../../../src/cli/command/command.ts";
import { attachmentFindings } from "../../../src/operator/check/attachment-findings.ts";
import { runChecks } from "../../../src/operator/check/checks.ts";
import { findNode } from "../../../src/operator/node.ts";
import type { Interrupt } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import type { Machine } from "../../harness/proc.ts";
import { location } from "../../store/fixtures.ts";
import {
  configure,
  configureNet,
  contextOf,
  findingsOn,
  memoryNode,
  places,
  RESULTS,
  remember,
  startOperator,
} from "../memory-node.ts";

const ADDRESS = "10.0.0.2";
const FILE = `/data/net/${ADDRESS}`;

/** A pod `default/NAME` with the address, of which libcni's cache has the network namespace, and nothing is reserved. */
function addPod(machine: MemoryMachine, name: string, network = "net"): void {
  const netns = `/run/netns/${name}`;
  remember(machine, name, { pod: `default/${name}`, netns, addresses: [`${ADDRESS}/28`] }, network);
}

/** The namespaces of pods, each with the address, at `/run/netns/NAME`. */
function namespacesOf(...names: readonly string[]): Machine {
  const mounted = names.map((name, at) => [`/run/netns/${name}`, 50 + at] as const);
  return {
    mounted: Object.fromEntries(mounted),
    addresses: Object.fromEntries(mounted.map(([, inode]) => [inode, [ADDRESS]])),
  };
}

/** A process in a namespace with the address. */
const process = { processes: { 7: { namespace: 70, addresses: [ADDRESS] } } };

const twice = { code: "address-in-use-twice", severity: "error" };
const unreserved = { code: "live-without-reservation", severity: "error" };
const ofA = "by default/a (container a), which holds the reservation";
const reserve =
  "(umask 022; mkdir -p /data/net) && (umask 077; set -C; printf '%s\\r\\n%s' a eth0 > /data/net/10.0.0.2)";

/** The pods that libcni's cache has, the container with the reservation, the node, and what is found. */
const cases: Readonly<
  Record<
    string,
    readonly [pods: readonly string[], holder: string | undefined, kernel: Machine, found: object]
  >
> = {
  "two pods, one without a reservation": [
    ["a", "b"],
    "a",
    namespacesOf("a", "b"),
    {
      ...twice,
      message: `${ADDRESS} is in use more than once: ${ofA}; by default/b (container b)`,
      remedy: "restart default/b, which has no reservation",
      commands: [/^host-local show 10\.0\.0\.2 /],
    },
  ],
  "two pods without a reservation": [
    ["a", "b"],
    undefined,
    namespacesOf("a", "b"),
    { ...twice, remedy: "restart default/a and default/b, which have no reservation" },
  ],
  "a pod, and a mounted namespace of which no pod is known": [
    ["a"],
    "a",
    namespacesOf("a", "lost"),
    {
      ...twice,
      message: `${ADDRESS} is in use more than once: ${ofA}; in the network namespace /run/netns/lost`,
      remedy:
        "restart the pod of the network namespace /run/netns/lost, if a runtime of the node lists it; otherwise remove that namespace, in which no process runs",
    },
  ],
  "two namespaces, of which one is the holder's": [
    [],
    "a",
    { ...namespacesOf("lost"), ...process },
    {
      ...twice,
      message: `${ADDRESS} is in use more than once: in the network namespace of process 7; in the network namespace /run/netns/lost; container a holds the reservation`,
      remedy:
        /lists it, unless it is container a, which holds the reservation; .*\/lost, .* unless it is container a, /,
    },
  ],
  "a pod whose reservation is gone": [
    ["a"],
    undefined,
    namespacesOf("a"),
    {
      ...unreserved,
      message: `default/a (container a) uses ${ADDRESS}, for which there is no reservation`,
      commands: [reserve],
    },
  ],
  "a pod whose address a container holds that is not seen": [
    ["a"],
    "gone",
    namespacesOf("a"),
    {
      ...unreserved,
      message: `default/a (container a) uses ${ADDRESS}, which is held by container gone`,
      remedy: "restart default/a, which then gets another address",
      commands: [],
    },
  ],
  "a namespace of which no pod is known": [
    [],
    undefined,
    namespacesOf("lost"),
    {
      ...unreserved,
      message: `${ADDRESS} is in use, and not reserved, in the network namespace /run/netns/lost`,
      remedy: /drain the node/,
      commands: [],
    },
  ],
};

for (const [what, [pods, holder, kernel, expected]] of Object.entries(cases)) {
  test(`${what}: found`, async (t) => {
    const machine = memoryNode(holder === undefined ? {} : { [ADDRESS]: `${holder}\r\neth0` });
    machine.disk.makeDirectories("/data/net");
    configureNet(machine, "10.0.0.0/28");
    for (const name of pods) addPod(machine, name);
    const findings = findingsOn(machine, { kernel });
    t.match(findings, [{ ...expected, path: FILE }]);
    t.equal(findings.length, 1);
  });
}

test("of two networks with one range the pod is named that got the address last", async (t) => {
  const machine = memoryNode({});
  for (const name of ["net", "other"]) {
    const ipam = { type: "host-local", subnet: "10.0.0.0/28" };
    configure(machine, `${name}.conf`, { cniVersion: "1.0.0", name, type: "bridge", ipam });
    machine.disk.put(`/data/${name}/${ADDRESS}`, `${name}\r\neth0`);
    addPod(machine, name, name);
    machine.wait(60_000);
  }
  const kernel = namespacesOf("net", "other");
  const found = findingsOn(machine, { kernel }).filter(({ code }) => code === twice.code);
  t.match(found, [
    {
      ...twice,
      message: `${ADDRESS} is in use more than once: by default/net (container net), which holds the reservation in net; by default/other (container other), which holds the reservation in other`,
      remedy:
        "restart default/other, which got it last, from other: another network hands it out, too",
    },
  ]);
});

test("an address that was released and is still noted, since a DEL is under way: nothing", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/28");
  addPod(machine, "a");
  const kernel = { ...namespacesOf("a"), addresses: {} };
  t.equal(findingsOn(machine, { kernel }).length, 1, "it is found if it lasts");

  // The cache is first listed for what is found, and then to see whether it lasts.
  let left = 2;
  const meanwhile = (): void => machine.disk.unlink(`${RESULTS}/net-a-eth0`);
  const interrupt: Interrupt = ({ operation, path }) =>
    operation === "list" && path === RESULTS && --left === 0
      ? { kind: "pause", meanwhile }
      : undefined;
  t.same(findingsOn(machine, { kernel, interrupt }), []);
  t.equal(left, 0);
});

/** What of the cache and the reservations is listed first, in this order. */
function listedBy(read: (context: Context, restart: () => void) => unknown): readonly string[] {
  const machine = memoryNode({ [ADDRESS]: "c1\r\neth0" });
  const paths: string[] = [];
  const { system } = startOperator(machine, ({ operation, path }) => {
    if (operation.startsWith("list")) paths.push(path);
    return undefined;
  });
  read(contextOf(system, places), () => {
    paths.length = 0;
  });
  return paths.filter((path) => path === RESULTS || path === location.directory).slice(0, 2);
}

// Whoever is added meanwhile has a reservation, and is not noted yet.
for (const [what, read] of [
  ["at first", (context: Context) => runChecks(findNode(context, undefined))],
  [
    "again",
    (context: Context, restart: () => void) => {
      const node = findNode(context, undefined);
      restart();
      attachmentFindings(node.readAgain());
    },
  ],
] as const) {
  test(`check reads the cache before the reservations, ${what}`, async (t) => {
    t.same(listedBy(read), [RESULTS, location.directory]);
  });
}
