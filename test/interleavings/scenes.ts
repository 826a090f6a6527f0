/** The calls that run at once, and the network on which they run. */

import type { MemoryDisk } from "../harness/memory-disk.ts";
import type { MemoryKernel } from "../harness/memory-kernel.ts";
import { cacheEntry } from "../harness/results-cache.ts";
import type { JsonObject } from "../harness/runtime-call.ts";
import {
  BY_PROCESS,
  Calls,
  ELSEWHERE,
  INGRESS,
  mountFor,
  namespacePath,
  type Pool,
  type Programs,
  v4,
  v6,
} from "./calls.ts";
import { recordsIn } from "./history.ts";
import { Judge, reservationsIn } from "./rules.ts";
import { type Fault, type Scene, Search } from "./search.ts";
import { Worlds } from "./world.ts";

/** The network before the calls of a search; by default `c` has one of three IPv4 addresses. */
export interface Network {
  /** The difference from the usual network, in words. */
  readonly name?: string;
  readonly ipam?: JsonObject;
  readonly pools?: readonly Pool[];
  /** Prepares the disk before all calls. */
  readonly disk?: (disk: MemoryDisk) => void;
  /** Whether the kernel gives handles of namespaces, as Linux does since 6.18. */
  readonly hasHandles?: boolean;
  /** Whether containers are virtual machines at a tap: their addresses are in no network namespace. */
  readonly hasTaps?: boolean;
  /** The earlier calls, and the changes by a runtime, in the form of `Calls.thread`. */
  readonly before?: string;
  /** The containers whose network namespaces have gone since, without a DEL; they are unmounted, unless `before` does it. */
  readonly dead?: readonly string[];
  /** The containers that live, or may live, although their network namespaces are not where they were. */
  readonly spared?: readonly string[];
  /** Whether the machine has booted since. */
  readonly hasBooted?: boolean;
}

/** The calls that run at once. */
export interface Cast extends Network {
  readonly name: string;
  /** The threads, in the form of `Calls.thread`. */
  readonly threads: readonly string[];
}

/** The trouble that may happen, once in a schedule, at any point of it. */
export interface Trouble {
  readonly faults: readonly Fault[];
  readonly codes?: Scene["codes"];
}

export const NO_TROUBLE: Trouble = { faults: [] };

/** A search, and the judge of its ends. */
export interface Prepared {
  readonly search: Search;
  readonly judge: Judge;
  readonly worlds: Worlds;
  readonly calls: Calls;
}

/**
 * Prepares a search.
 *
 * @param programs the plugin and the tool, by default the real ones
 * @param earlier the programs of the calls before
 */
export function prepare(
  cast: Cast,
  trouble: Trouble,
  programs?: Programs,
  earlier?: Programs,
): Prepared {
  const worlds = new Worlds();
  const calls = new Calls(cast.ipam, cast.pools, programs, "-new");
  const usual = new Calls(cast.ipam, cast.pools, earlier);
  const { dead = [], spared = [], hasBooted = false, hasHandles = false, hasTaps = false } = cast;
  const before = [...usual.thread(cast.before ?? "ADD c")];
  const isOver = before.some(({ verb }) => verb === "runtime");
  if (!isOver) before.push(...dead.map((container) => usual.program(`unmount ${container}`)));
  const threads = cast.threads.map((thread) => calls.thread(thread));
  const running = threads.flat();
  const hasCommand = running.some(({ words }) => words !== undefined);
  const prepareMachine = (disk: MemoryDisk, kernel: MemoryKernel): void => {
    kernel.hasHandles = hasHandles;
    kernel.hasTaps = hasTaps;
    cast.disk?.(disk);
    if (hasCommand) usual.configure(disk);
  };
  const left = usual.after(worlds, prepareMachine, before);
  const start = worlds.change(hasBooted ? worlds.later(left, 60_000, 1) : left, ({ kernel }) => {
    for (const program of running) if (program.verb === "ADD") mountFor(kernel, program);
  });
  const { faults, codes = { changes: [], reads: [] } } = trouble;
  const search = new Search({ worlds, start, threads, hasBooted, faults, codes });
  const all = [...before, ...running];
  const reserved = reservationsIn(start);
  const owners = [...reserved.values()].flatMap((owner) => owner.match(/^\w+(?=\r\neth0$)/) ?? []);
  const containers = new Set([...all.flatMap(({ container }) => container ?? []), ...owners]);
  const judge = new Judge({
    calls,
    before: reserved,
    unreserved: start.kernel.seenInUse.filter((address) => !reserved.has(address)),
    dead,
    spared,
    history: running.length === 1 ? recordsIn(start) : undefined,
    containers: [...containers],
    mayBeEmpty: all.some(({ locks }) => locks === "as Go") || !start.disk.hardLinks,
    hasSeveralLocks:
      all.some(({ locks }) => locks === "directory") || faults.includes("no lock file"),
    keepsNothing: faults.every((fault) => fault === "error"),
    repeats: cast.ipam?.repeatedAdd === "same",
    isNeverReclaimed: cast.ipam?.reclaim === "never",
    isLost: running.some(({ name }) => name.startsWith("lose ")),
    reclaims: hasBooted && !faults.some((fault) => fault.includes("error")),
  });
  return { search, judge, worlds, calls };
}

/** The cast of calls at once, such as `ADD a ∥ DEL c, ADD c`. */
export function cast(threads: string, network: Network = {}): Cast {
  // `c` is dead for these calls, or they would not release it.
  const isGivenUp = /\b(?:GC a|release c)\b/.test(threads);
  const name = network.name === undefined ? threads : `${threads}, ${network.name}`;
  return { dead: isGivenUp ? ["c"] : [], ...network, name, threads: threads.split(" ∥ ") };
}

/** The calls that fill the range. */
const FULL = "ADD c, ADD d, ADD e";

/** Networks that differ from the usual one. */
export const networks = {
  same: { name: "repeatedAdd same", ipam: { repeatedAdd: "same" } },
  dual: { name: "dual stack", pools: [v4, v6] },
  /** Times are kept in full seconds, as on ext4 with inodes of 128 bytes. */
  seconds: {
    name: "nearly full, times of a second",
    before: "ADD c, ADD d",
    disk: (disk: MemoryDisk) => {
      disk.resolution = 1_000_000_000n;
    },
  },
  /** A living container, which only its own calls may release. */
  living: { name: "which lives", dead: [] },
  nearlyFull: { name: "nearly full", before: "ADD c, ADD d" },
  full: { name: "full", before: FULL },
  booted: { name: "full before the boot", before: FULL, hasBooted: true },
} as const satisfies Readonly<Record<string, Network>>;

/** Networks of virtual machines, which nothing protects but the rules on their network namespaces. */
function ofMachines<T extends Readonly<Record<string, Network>>>(
  all: T,
): Readonly<Record<keyof T, Network>> {
  const entries = Object.entries(all).map(([key, network]) => [key, { hasTaps: true, ...network }]);
  return Object.fromEntries(entries);
}

/** Full networks in which `d`, or another container, is dead or may seem so. */
export const graves = ofMachines({
  /** The next network namespace gets the number of the one of `d`. */
  gone: { name: "full, d gone", before: FULL, dead: ["d"] },
  /** The next network namespace gets another number, so that none has the number of the one of `d`. */
  goneForGood: {
    name: "full, d gone and its number free",
    before: `mount x, ${FULL}, unmount d, unmount x`,
    dead: ["d"],
  },
  /** libcni's cache names the former network namespace of `d`; if `d` is started again, it does so until its ADD has ended. */
  remembered: {
    name: "full, d gone and in libcni's cache",
    before: FULL,
    dead: ["d"],
    disk: (disk: MemoryDisk) => {
      const { name, text } = cacheEntry("net", "d", { netns: namespacePath("d", "") });
      disk.put(`/var/lib/cni/results/${name}`, text);
    },
  },
  itsNumberUsed: {
    name: "full, d gone and its number b's",
    before: "ADD c, ADD d, unmount d, ADD b",
    dead: ["d"],
  },
  itsPathUsed: {
    name: "full, d gone and its path another's",
    before: `${FULL}, unmount d, mount x, mount d, unmount x`,
    dead: ["d"],
  },
  itsProcessGone: {
    name: "full, a process gone",
    before: `ADD c, ADD ${BY_PROCESS}, ADD e`,
    dead: [BY_PROCESS],
  },
  itsProcessAnother: {
    name: "full, a process gone and its id another's",
    before: `ADD c, ADD ${BY_PROCESS}, ADD e, unmount ${BY_PROCESS}, mount x, mount ${BY_PROCESS}, unmount x`,
    dead: [BY_PROCESS],
  },
  /** The network namespace of `d` is mounted nowhere. */
  zombie: {
    name: "full, d a zombie with a thread",
    before: `${FULL}, zombie d, unmount d`,
    spared: ["d"],
  },
  thread: {
    name: "full, d in a thread alone",
    before: `${FULL}, thread d, unmount d`,
    spared: ["d"],
  },
  /** libcni's cache names the path of `d`, and nothing tells to whom the process belongs. */
  strange: {
    name: "full, d the Go plugin's, its path gone and a process there",
    before: "ADD c, Go ADD d, ADD e, start d, unmount d",
    spared: ["d"],
    disk: (disk: MemoryDisk) => {
      const { name, text } = cacheEntry("net", "d", { netns: namespacePath("d", "") });
      disk.put(`/var/lib/cni/results/${name}`, text);
    },
  },
  mountedElsewhere: {
    name: "full, d mounted elsewhere",
    before: `${FULL}, bind d, unmount d`,
    spared: ["d"],
  },
  unseen: {
    name: "full, d not seen",
    before: `${FULL}, start d, hide d, unmount d`,
    spared: ["c", "d", "e"],
  },
  directoryUnseen: {
    name: "full, a directory of namespaces not seen",
    before: `ADD c, ADD ${ELSEWHERE}, ADD e, unmount ${ELSEWHERE}`,
    spared: [ELSEWHERE],
  },
  /** The first process ends while another call looks at it. */
  handedOver: {
    name: "full, d in a process alone",
    before: `${FULL}, start d, unmount d`,
    spared: ["d"],
  },
  ofNoPod: {
    name: "full, ingress gone",
    before: `ADD c, ADD ${INGRESS}, ADD e`,
    dead: [INGRESS],
  },
  never: {
    name: "full, d gone, reclaim never",
    ipam: { reclaim: "never" },
    before: FULL,
    dead: ["d"],
  },
  ofGoPlugin: {
    name: "full, d the Go plugin's",
    hasTaps: false,
    before: "macvlan all, ADD c, Go ADD d, ADD e, configure d",
  },
});

/** Full networks that the Go plugin, which the journal does not know, has changed since they were recorded. */
export const afterGoPlugin = ofMachines({
  gone: {
    name: "full, d gone, after the Go plugin",
    before: "ADD c, ADD d, Go ADD e",
    dead: ["d"],
  },
  /** The same container gets its address and the number of its file again. */
  again: {
    name: "full, d again by the Go plugin",
    before: "ADD c, ADD d, Go ADD e, unmount d, Go DEL d, mount x, mount d, Go ADD d",
    hasHandles: true,
  },
});

/** Networks with addresses in use for which there is no reservation, or only a dead container's. */
export const forgotten = {
  lost: { name: "the directory of two pods lost", before: "ADD c, ADD d, lose all" },
  lostOfMacvlan: {
    name: "macvlan, the directory of two pods lost",
    before: "macvlan all, ADD c, ADD d, lose all",
  },
  lostOfGoPlugin: {
    name: "the directory of two pods of the Go plugin lost",
    before: "Go ADD c, Go ADD d, lose all",
  },
  moved: {
    name: "full, the interface of d in another namespace",
    before: `${FULL}, mount other, move d, unmount d`,
    spared: ["d"],
    hasHandles: true,
  },
  /** No interface leads to the other namespace, and no ADD was called for it. */
  movedOfMacvlan: {
    name: "macvlan, full, the interface of d in another namespace",
    before: `macvlan all, ${FULL}, mount other, move d, unmount d`,
    spared: ["d"],
    hasHandles: true,
  },
  /** No process, mount or record shows the namespace of `d`. */
  openOfGoPlugin: {
    name: "full, d the Go plugin's, open in a daemon",
    before: "ADD c, Go ADD d, ADD e, open d, unmount d",
    spared: ["d"],
    hasHandles: true,
  },
} as const satisfies Readonly<Record<string, Network>>;

/** Networks on a kernel that gives handles, and networks where only handles show what lives. */
export const handles = ofMachines({
  full: { name: "full, handles", before: FULL, hasHandles: true },
  gone: { ...graves.gone, name: "full, d gone, handles", hasHandles: true },
  itsNumberUsed: {
    ...graves.itsNumberUsed,
    name: "full, d gone and its number b's, handles",
    hasHandles: true,
  },
  zombie: { ...graves.zombie, name: "full, d a zombie, handles", hasHandles: true },
  mountedElsewhere: {
    ...graves.mountedElsewhere,
    name: "full, d elsewhere, handles",
    hasHandles: true,
  },
  handedOver: {
    ...graves.handedOver,
    name: "full, d in a process alone, handles",
    hasHandles: true,
  },
  /** No process and no mount shows the namespace of `d`. */
  open: {
    name: "full, d open in a daemon, handles",
    before: `${FULL}, open d, unmount d`,
    spared: ["d"],
    hasHandles: true,
  },
  /** The kernel gives this process the same answer for a living namespace as for one that is gone. */
  blind: {
    name: "full, d a zombie, handles that are not seen",
    before: `${FULL}, zombie d, unmount d, blind d`,
    spared: ["d"],
    hasHandles: true,
  },
  /** No process and no mount shows the namespace of `d`; all others are recognized by their addresses. */
  openBlind: {
    name: "full, d open in a daemon, handles that are not seen",
    hasTaps: false,
    before: `${FULL}, open d, unmount d, blind d`,
    spared: ["d"],
    hasHandles: true,
  },
});
