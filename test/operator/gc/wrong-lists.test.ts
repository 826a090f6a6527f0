// test: own process, slow
/** Whatever list `gc` is given, no address of a living pod is released; and once it gets a right one, all dead ones are. */

import fc from "fast-check";
import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import { extent } from "../../harness/extent.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { seed } from "../../harness/seed.ts";
import {
  contextOf,
  memoryNode,
  places,
  remember,
  startOperator,
  withKernel,
} from "../memory-node.ts";
import { type Machine, systemOf } from "../node/proc.ts";

/**
 * What is left of a pod. `process`: it runs. `backoff`: its namespace is mounted, and no process runs there at the moment.
 * `moved`: the same, and its address is elsewhere. `lost`: its namespace is mounted, and the runtime does not know it any
 * more. `dead`: nothing. `machine`: processes run, and the kernel never has the address, which the virtual machine there has.
 */
const kinds = ["process", "backoff", "moved", "lost", "dead"] as const;

interface Pod {
  readonly kind: (typeof kinds)[number] | "machine";
  /** What libcni's cache has: nothing, an entry as before libcni 1.3, or one with the path of the namespace. */
  readonly cache: "none" | "old" | "new";
}

interface Node {
  readonly pods: readonly Pod[];
  /** Namespaces that belong to no pod. */
  readonly strangers: number;
  /** Whether namespaces cannot be entered, as in the default DaemonSet. */
  readonly isConfined: boolean;
}

const GRACE = 600_000;

const address = (at: number): string => `10.0.0.${at + 2}`;
const idOf = (at: number): string => `c${at}`;
const pathOf = (at: number): string => `/run/netns/cni-${at}`;
const inodeOf = (at: number): number => 100 + at;

function isLiving({ kind }: Pod): boolean {
  return kind !== "dead" && kind !== "lost";
}

/** Whether the node shows that a pod has its namespace; then no list takes its address. */
function isSeen({ kind, cache }: Pod, { isConfined }: Node): boolean {
  if (kind === "dead") return false;
  return kind === "process" || kind === "moved" || !isConfined || cache === "new";
}

function kernelOf({ pods, strangers, isConfined }: Node): Machine {
  const processes: Record<number, { namespace: number; addresses: readonly string[] }> = {};
  const mounted: Record<string, number> = {};
  const addresses: Record<number, readonly string[]> = {};
  pods.forEach(({ kind }, at) => {
    if (kind === "dead") return;
    mounted[pathOf(at)] = inodeOf(at);
    const isElsewhere = kind === "moved" || kind === "machine";
    const own = [isElsewhere ? "169.254.1.1" : address(at)];
    if (kind === "process" || kind === "machine")
      processes[1000 + at] = { namespace: inodeOf(at), addresses: own };
    else addresses[inodeOf(at)] = own;
  });
  for (let at = 0; at < strangers; at++) {
    processes[2000 + at] = { namespace: 500 + at, addresses: [`172.17.0.${at + 2}`] };
  }
  return { processes, mounted, addresses, isConfined };
}

/** A node whose reservations are an hour old. */
function machineOf({ pods }: Node): MemoryMachine {
  const machine = memoryNode(
    Object.fromEntries(pods.map((_, at) => [address(at), `${idOf(at)}\r\neth0`])),
  );
  pods.forEach(({ cache, kind }, at) => {
    if (cache === "none" && kind !== "moved") return;
    const netns = cache === "old" && kind !== "moved" ? {} : { netns: pathOf(at) };
    remember(machine, idOf(at), { ...netns, addresses: [`${address(at)}/24`] });
  });
  machine.wait(6 * GRACE);
  return machine;
}

/** Runs `gc --yes --force`, with a list of these pods or with none, and returns which of them are still reserved. */
function run(
  machine: MemoryMachine,
  node: Node,
  listed: readonly number[] | undefined,
  isNow: boolean,
): readonly number[] {
  collect(machine, node, listed?.map(idOf), { ...(isNow ? { "--now": "" } : {}), "--force": "" });
  return reservedOn(machine, node);
}

function reservedOn({ disk }: MemoryMachine, { pods }: Node): readonly number[] {
  return [...pods.keys()].filter((at) => disk.has(`/data/net/${address(at)}`));
}

/** Runs `gc --yes`, with a list of these ids or with none, and returns what it logs. */
function collect(
  machine: MemoryMachine,
  node: Node,
  listed: readonly string[] | undefined,
  given: Readonly<Record<string, string>>,
): readonly string[] {
  machine.disk.put("/live", (listed ?? []).map((id) => `${id}\n`).join(""));
  const kernel = systemOf(kernelOf(node));
  const isKernel = (path: string): boolean => path.startsWith("/proc") || path.startsWith("/run/");
  const system = withKernel(startOperator(machine).system, kernel, isKernel);
  const options = {
    ...places,
    "--yes": "",
    ...given,
    ...(listed === undefined ? {} : { "--live": "/live" }),
  };
  const messages: string[] = [];
  gc.run({ ...contextOf(system, options), log: (message) => messages.push(message) });
  machine.wait(2 * GRACE);
  return messages;
}

const nodes: fc.Arbitrary<Node> = fc.record({
  pods: fc.array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      cache: fc.constantFrom("none" as const, "old" as const, "new" as const),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  strangers: fc.nat(1),
  isConfined: fc.boolean(),
});

/** How a list is wrong: it has every other id only from here on, is cut there, or empty, in whatever order. */
const cuts = fc.array(fc.record({ skip: fc.nat(7), length: fc.nat(7), isNow: fc.boolean() }), {
  minLength: 4,
  maxLength: 4,
});

/** The extent of a run by which many lists are tried: 10 000 in full. */
const numRuns = extent === "short" ? 200 : 6000;

test("10 000 wrong lists release no address of a living pod, and the next right ones all others", async (t) => {
  let wrong = 0;
  let released = 0;
  fc.assert(
    fc.property(nodes, cuts, (node, lists) => {
      const machine = machineOf(node);
      const all = [...node.pods.entries()];
      const living = all.filter(([, pod]) => isLiving(pod)).map(([at]) => at);
      const seen = all.filter(([, pod]) => isSeen(pod, node)).map(([at]) => at);
      const kept = new Set([...living, ...seen]);
      for (const { skip, length, isNow } of lists) {
        const list = living.slice(skip, skip + length);
        const lacked = living.filter((at) => !list.includes(at));
        // A list that lacks none of which a process runs is not contradicted: it decides on what is not seen.
        const isWrong = lacked.some((at) => node.pods[at]?.kind === "process");
        if (!isWrong && !lacked.every((at) => seen.includes(at))) continue;
        if (lacked.length > 0) wrong++;
        const left = run(machine, node, list, isNow);
        released += [...kept].filter((at) => !left.includes(at)).length;
      }
      run(machine, node, living, false);
      const left = run(machine, node, living, false);
      return (
        released === 0 && left.every((at) => kept.has(at)) && seen.every((at) => left.includes(at))
      );
    }),
    { seed, numRuns },
  );
  t.comment(`${wrong} wrong lists`);
  t.equal(released, 0);
  t.ok(wrong >= numRuns, "most nodes get several");
});

test("without a list, too, no address of a living pod is released", async () => {
  fc.assert(
    fc.property(nodes, fc.boolean(), (node, isNow) => {
      const machine = machineOf(node);
      run(machine, node, undefined, isNow);
      const left = run(machine, node, undefined, isNow);
      return node.pods.every((pod, at) => !isLiving(pod) || left.includes(at));
    }),
    { seed, numRuns },
  );
});

test("a full range with nothing alive is decided by the kernel: no pod could start there", async (t) => {
  const pods = Array.from({ length: 5 }, (): Pod => ({ kind: "dead", cache: "old" }));
  const node = { pods, strangers: 0, isConfined: true };
  const machine = machineOf(node);

  t.equal(run(machine, node, undefined, false).length, 5);
  t.same(run(machine, node, undefined, false), []);
});

test("a list that lacks a pod in back-off once, --now or not, releases nothing", async (t) => {
  const pods: readonly Pod[] = ["process", "backoff"].map((kind) => {
    return { kind: kind as Pod["kind"], cache: "old" };
  });
  const node = { pods, strangers: 0, isConfined: false };
  for (const isNow of [false, true]) {
    const machine = machineOf(node);

    for (const list of [[0], [0, 1], [0]]) t.same(run(machine, node, list, isNow), [0, 1]);
  }
});

/** Pods of which the kernel has no address, and libcni's cache no namespace. */
const hidden: fc.Arbitrary<Node> = fc.record({
  pods: fc.array(
    fc.record({
      kind: fc.constantFrom("machine" as const, "process" as const, "dead" as const),
      cache: fc.constantFrom("none" as const, "old" as const),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  strangers: fc.nat(2),
  isConfined: fc.boolean(),
});

test("a cut list releases no pod whose address the kernel never has, and a right one all that are dead", async () => {
  fc.assert(
    fc.property(hidden, cuts, (node, lists) => {
      const machine = machineOf(node);
      const all = [...node.pods.entries()];
      const living = all.filter(([, pod]) => isLiving(pod)).map(([at]) => at);
      for (const { skip, length, isNow } of lists) {
        const list = living.slice(skip, skip + length).map(idOf);
        collect(machine, node, list, isNow ? { "--now": "" } : {});
        const left = reservedOn(machine, node);
        if (!living.every((at) => left.includes(at))) return false;
      }
      run(machine, node, living, false);
      return run(machine, node, living, false).join() === living.join();
    }),
    { seed, numRuns },
  );
});

test("a list that has fewer containers than namespaces are left for them is refused, and says what to add", async (t) => {
  const pods = ["machine", "machine", "machine", "dead"].map((kind): Pod => {
    return { kind: kind as Pod["kind"], cache: "old" };
  });
  const node = { pods, strangers: 1, isConfined: false };
  const machine = machineOf(node);
  const now = { "--now": "" };

  for (const [ids, living] of [
    [["c0", "c1"], 2],
    [["c0", "c1", "c2"], 3],
  ] as const) {
    t.same(collect(machine, node, ids, now), [
      `net: 4 network namespaces with processes, such as /proc/1000/ns/net, belong to no known container, but the list has only ${living} whose namespace is not known: it may lack living containers; nothing is released by the list there. Add the containers of every runtime of the node, such as those of docker ps -q; if none of these namespaces is that of a container of net, add --force`,
    ]);
    t.same(reservedOn(machine, node), [0, 1, 2, 3]);
  }
  t.same(collect(machine, node, ["c0", "c1", "c2", "other"], now), [], "Docker's container, too");
  t.same(reservedOn(machine, node), [0, 1, 2]);
});
