// test: own process, slow
/** Whatever list `gc` is given, no address of a living pod is released; and once it gets a right one, all dead ones are. */

import fc from "fast-check";
import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import { extent } from "../../harness/extent.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import type { Machine } from "../../harness/proc.ts";
import { seed } from "../../harness/seed.ts";
import { memoryNode, remember, runOn } from "../memory-node.ts";

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

/** A list of these pods, and the options of the run that is given it. */
interface Run {
  /** Without one where it is `undefined`. */
  readonly list: readonly number[] | undefined;
  readonly isNow?: boolean;
  readonly isForced?: boolean;
}

/** Runs `gc --yes`, and returns which pods still have their addresses. */
function collect(
  machine: MemoryMachine,
  node: Node,
  { list, isNow = false, isForced = true }: Run,
): readonly number[] {
  machine.disk.put("/live", (list ?? []).map((at) => `${idOf(at)}\n`).join(""));
  const options = {
    "--yes": "",
    ...(isNow ? { "--now": "" } : {}),
    ...(isForced ? { "--force": "" } : {}),
    ...(list === undefined ? {} : { "--live": "/live" }),
  };
  runOn(machine, gc, { options, kernel: kernelOf(node) });
  machine.wait(2 * GRACE);
  return [...node.pods.keys()].filter((at) => machine.disk.has(`/data/net/${address(at)}`));
}

/** The pods of which something holds. */
function podsThat({ pods }: Node, holds: (pod: Pod) => boolean): readonly number[] {
  return [...pods.entries()].flatMap(([at, pod]) => (holds(pod) ? [at] : []));
}

/** Which pods are left by a second run with a right list, a grace period after the first. */
function leftByRightList(machine: MemoryMachine, node: Node): readonly number[] {
  const list = podsThat(node, isLiving);
  collect(machine, node, { list });
  return collect(machine, node, { list });
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

/** How a list is wrong: it is not given, has only those from here on, is cut there, or empty, in whatever order. */
const cut = fc.record({
  isGiven: fc.constantFrom(true, true, true, false),
  skip: fc.nat(7),
  length: fc.nat(7),
  isNow: fc.boolean(),
});
const cuts = fc.array(cut, { minLength: 4, maxLength: 4 });

/** In full, more than 10 000 wrong lists are tried. */
const numRuns = extent === "short" ? 60 : 2000;

test("wrong lists or none release no living pod's address, the next right ones all others", async (t) => {
  let wrong = 0;
  fc.assert(
    fc.property(nodes, cuts, (node, lists) => {
      const machine = machineOf(node);
      const living = podsThat(node, isLiving);
      const seen = podsThat(node, (pod) => isSeen(pod, node));
      const kept = [...new Set([...living, ...seen])];
      for (const { isGiven, skip, length, isNow } of lists) {
        const list = isGiven ? living.slice(skip, skip + length) : undefined;
        const lacked = living.filter((at) => list?.includes(at) === false);
        // A list that lacks none of which a process runs is not contradicted: it decides on what is not seen.
        const isWrong = lacked.some((at) => node.pods[at]?.kind === "process");
        if (!isWrong && !lacked.every((at) => seen.includes(at))) continue;
        if (lacked.length > 0) wrong++;
        const left = collect(machine, node, { list, isNow });
        if (!kept.every((at) => left.includes(at))) return false;
      }
      const left = leftByRightList(machine, node);
      return left.every((at) => kept.includes(at)) && seen.every((at) => left.includes(at));
    }),
    { seed, numRuns },
  );
  t.ok(wrong >= numRuns, `most nodes get several of ${wrong} wrong lists`);
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

test("a cut list releases no pod whose address the kernel never has, a right one all dead", async () => {
  fc.assert(
    fc.property(hidden, cuts, (node, lists) => {
      const machine = machineOf(node);
      const living = podsThat(node, isLiving);
      for (const { isGiven, skip, length, isNow } of lists) {
        const list = isGiven ? living.slice(skip, skip + length) : undefined;
        const left = collect(machine, node, { list, isNow, isForced: false });
        if (!living.every((at) => left.includes(at))) return false;
      }
      return leftByRightList(machine, node).join() === living.join();
    }),
    { seed, numRuns },
  );
});
