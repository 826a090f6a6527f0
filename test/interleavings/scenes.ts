/** Which calls run at once, and on what. */

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

/** What there is before the calls of a search; by default `c` has one of three IPv4 addresses. */
export interface Network {
  /** What differs from the usual one, in words. */
  readonly name?: string;
  readonly ipam?: JsonObject;
  readonly pools?: readonly Pool[];
  /** What is on the disk before all calls. */
  readonly disk?: (disk: MemoryDisk) => void;
  /** Whether the kernel gives handles of namespaces, as Linux does since 6.18. */
  readonly hasHandles?: boolean;
  /** Whether containers are virtual machines at a tap: their addresses are in no network namespace. */
  readonly hasTaps?: boolean;
  /** What was called before, and what a runtime did: as `Calls.thread` has it. */
  readonly before?: string;
  /** Containers whose network namespaces are gone since, without a DEL; they are unmounted, unless `before` does it. */
  readonly dead?: readonly string[];
  /** Containers that live, or may, although their network namespaces are not where they were. */
  readonly spared?: readonly string[];
  /** Whether the machine has booted since. */
  readonly hasBooted?: boolean;
}

/** What runs at once. */
export interface Cast extends Network {
  readonly name: string;
  /** As `Calls.thread` has them. */
  readonly threads: readonly string[];
}

/** What may happen, once in a schedule, at any point of it. */
export interface Trouble {
  readonly faults: readonly Fault[];
  readonly codes?: Scene["codes"];
}

export const NO_TROUBLE: Trouble = { faults: [] };

/** A search, and what it asks about each end. */
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
 * @param earlier those of the calls before
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

/** These calls at once, such as `ADD a ∥ DEL c, ADD c`. */
export function cast(threads: string, network: Network = {}): Cast {
  // Nobody would release it otherwise.
  const isGivenUp = /\b(?:GC a|release c)\b/.test(threads);
  const name = network.name === undefined ? threads : `${threads}, ${network.name}`;
  return { dead: isGivenUp ? ["c"] : [], ...network, name, threads: threads.split(" ∥ ") };
}

/** Which fills the range. */
const FULL = "ADD c, ADD d, ADD e";

/** Networks that differ from the usual one. */
export const networks = {
  same: { name: "repeatedAdd same", ipam: { repeatedAdd: "same" } },
  dual: { name: "dual stack", pools: [v4, v6] },
  /** As on ext4 with inodes of 128 bytes. */
  seconds: {
    name: "nearly full, times of a second",
    before: "ADD c, ADD d",
    disk: (disk: MemoryDisk) => {
      disk.resolution = 1_000_000_000n;
    },
  },
  /** What nobody may release but its own calls. */
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
  /** The next network namespace gets the number of its own. */
  gone: { name: "full, d gone", before: FULL, dead: ["d"] },
  /** The next network namespace gets another number, so that nothing has its own. */
  goneForGood: {
    name: "full, d gone and its number free",
    before: `mount x, ${FULL}, unmount d, unmount x`,
    dead: ["d"],
  },
  /** libcni's cache names the network namespace that it had; of one that is started again, until its ADD has ended. */
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
  /** Its network namespace is mounted nowhere. */
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
  /** libcni's cache names its path, and nothing tells whose the process is. */
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
  /** Its address, and its file's number, are again those of the same container. */
  again: {
    name: "full, d again by the Go plugin",
    before: "ADD c, ADD d, Go ADD e, unmount d, Go DEL d, mount x, mount d, Go ADD d",
    hasHandles: true,
  },
});

/** Networks in which addresses are in use that no reservation, or only one of a dead container, tells of. */
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
  /** No interface leads to it, and no ADD was called for it. */
  movedOfMacvlan: {
    name: "macvlan, full, the interface of d in another namespace",
    before: `macvlan all, ${FULL}, mount other, move d, unmount d`,
    spared: ["d"],
    hasHandles: true,
  },
  /** Neither a process nor a mount shows it, nor a record. */
  openOfGoPlugin: {
    name: "full, d the Go plugin's, open in a daemon",
    before: "ADD c, Go ADD d, ADD e, open d, unmount d",
    spared: ["d"],
    hasHandles: true,
  },
} as const satisfies Readonly<Record<string, Network>>;

/** Networks on a kernel that gives handles, and what only these tell. */
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
  /** No process and no mount shows it. */
  open: {
    name: "full, d open in a daemon, handles",
    before: `${FULL}, open d, unmount d`,
    spared: ["d"],
    hasHandles: true,
  },
  /** To this process the kernel answers of what lives as of what is gone. */
  blind: {
    name: "full, d a zombie, handles that are not seen",
    before: `${FULL}, zombie d, unmount d, blind d`,
    spared: ["d"],
    hasHandles: true,
  },
  /** No process and no mount shows it, while all others are known as theirs by their addresses. */
  openBlind: {
    name: "full, d open in a daemon, handles that are not seen",
    hasTaps: false,
    before: `${FULL}, open d, unmount d, blind d`,
    spared: ["d"],
    hasHandles: true,
  },
});
