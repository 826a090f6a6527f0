/** Which calls run at once, and on what. */

import type { MemoryDisk } from "../harness/memory-disk.ts";
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
import type { Program } from "./process.ts";
import { Judge, reservationsIn } from "./rules.ts";
import { type Fault, type Scene, Search, type Thread } from "./search.ts";
import { Worlds } from "./world.ts";

/** What runs at once, in words. */
export interface Cast {
  readonly name: string;
  readonly ipam?: JsonObject;
  /** By default one range of three IPv4 addresses. */
  readonly pools?: readonly Pool[];
  /** What is on the disk before all calls. */
  readonly disk?: (disk: MemoryDisk) => void;
  /** What was called before. */
  readonly before?: (calls: Calls) => readonly Program[];
  readonly threads: (calls: Calls) => readonly Thread[];
  /**
   * Containers whose network namespaces are gone since, without a DEL; they are unmounted, unless `before` has what a runtime
   * does.
   */
  readonly dead?: readonly string[];
  /** Containers that live, or may, although their network namespaces are not where they were. */
  readonly spared?: readonly string[];
  /** Whether the machine has booted since. */
  readonly hasBooted?: boolean;
  readonly afterBoot?: (calls: Calls) => readonly Thread[];
}

/** What may happen. */
export interface Trouble {
  readonly faults: readonly Fault[];
  readonly codes?: Scene["codes"];
  /** By default one. */
  readonly most?: number;
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
 */
export function prepare(cast: Cast, trouble: Trouble, programs?: Programs): Prepared {
  const worlds = new Worlds();
  const calls = new Calls(cast.ipam, cast.pools, programs, "-new");
  const usual = new Calls(cast.ipam, cast.pools);
  const { dead = [], spared = [] } = cast;
  const earlier = [...(cast.before?.(usual) ?? [usual.add("c")])];
  const isOver = earlier.some(({ verb }) => verb === "runtime");
  if (!isOver) earlier.push(...dead.map((container) => usual.unmount(container)));
  const threads = cast.threads(calls);
  const hasCommand = threads.flat().some(({ words }) => words !== undefined);
  const prepareDisk = (disk: MemoryDisk): void => {
    cast.disk?.(disk);
    if (hasCommand) usual.configure(disk);
  };
  const left = usual.after(worlds, prepareDisk, earlier);
  const booted = cast.hasBooted === true ? worlds.later(left, 60_000, 1) : left;
  const start = worlds.change(booted, ({ kernel }) => {
    for (const program of threads.flat()) if (program.verb === "ADD") mountFor(kernel, program);
  });
  const {
    faults,
    codes = { changes: [], reads: [] },
    most = faults.length === 0 ? 0 : 1,
  } = trouble;
  const afterBoot = cast.afterBoot?.(calls) ?? [];
  const search = new Search({
    worlds,
    start,
    threads,
    afterBoot,
    hasBooted: cast.hasBooted === true,
    faults,
    most,
    codes,
  });
  const all = [...earlier, ...threads.flat(), ...afterBoot.flat()];
  const before = reservationsIn(start);
  const owners = [...before.values()].flatMap((owner) => owner.match(/^\w+(?=\r\neth0$)/) ?? []);
  const containers = new Set([...all.flatMap(({ container }) => container ?? []), ...owners]);
  const mayBeEmpty = all.some(({ locks }) => locks === "as Go") || !start.disk.hardLinks;
  const judge = new Judge({
    calls,
    before,
    dead,
    spared,
    history: threads.flat().length === 1 ? recordsIn(start) : undefined,
    containers: [...containers],
    mayBeEmpty,
    hasSeveralLocks:
      all.some(({ locks }) => locks === "directory") || faults.includes("no lock file"),
    most,
    keepsNothing: faults.every((fault) => fault === "error"),
    repeats: cast.ipam?.repeatedAdd === "same",
    isNeverReclaimed: cast.ipam?.reclaim === "never",
    reclaims: cast.hasBooted === true && !faults.some((fault) => fault.includes("error")),
  });
  return { search, judge, worlds, calls };
}

/** A call with a lock that does not exclude the others. */
function byDirectory(program: Program): Program {
  return { ...program, name: `${program.name}, directory lock`, locks: "directory" };
}

/** Calls by their names. */
const kinds = {
  "ADD a": (calls: Calls) => [calls.add("a")],
  "ADD b": (calls: Calls) => [calls.add("b")],
  "ADD ingress": (calls: Calls) => [calls.add(INGRESS)],
  "ADD a, unheard": (calls: Calls) => [calls.add("a", { name: "ADD a, unheard", isUnheard: true })],
  "ADD b, unheard": (calls: Calls) => [calls.add("b", { name: "ADD b, unheard", isUnheard: true })],
  "DEL a": (calls: Calls) => [calls.del("a")],
  "DEL c": (calls: Calls) => [calls.del("c")],
  "DEL d": (calls: Calls) => [calls.del("d")],
  "ADD d": (calls: Calls) => [calls.add("d")],
  "DEL d, ADD d": (calls: Calls) => [calls.del("d"), calls.add("d")],
  "ADD d, unheard": (calls: Calls) => [calls.add("d", { name: "ADD d, unheard", isUnheard: true })],
  "d ends, ADD b": (calls: Calls) => [before(calls).unmount("d"), calls.mount("b"), calls.add("b")],
  "d has a process alone": (calls: Calls) => [
    calls.runtime("start d", (kernel) => kernel.startProcess(3000, namespacePath("d", ""))),
    before(calls).unmount("d"),
  ],
  "ADD b of 10.0.0.3": (calls: Calls) => [calls.request("b", "10.0.0.3")],
  "DEL a, ADD a": (calls: Calls) => [calls.del("a"), calls.add("a")],
  "DEL c, ADD c": (calls: Calls) => [calls.del("c"), calls.add("c")],
  "CHECK c": (calls: Calls) => [calls.check("c")],
  STATUS: (calls: Calls) => [calls.status()],
  "ADD b of 10.0.0.4": (calls: Calls) => [calls.request("b", "10.0.0.4")],
  "ADD c of 10.0.0.4, unheard": (calls: Calls) => [calls.request("c", "10.0.0.4", true)],
  "ADD b of 2001:db8::2": (calls: Calls) => [calls.request("b", "2001:db8::2")],
  "GC c": (calls: Calls) => [calls.gc("c")],
  "GC a": (calls: Calls) => [calls.gc("a")],
  "GC null": (calls: Calls) => [calls.gc()],
  "release c": (calls: Calls) => [calls.release("c")],
  "release d": (calls: Calls) => [calls.release("d")],
  gc: (calls: Calls) => [calls.collect()],
  "gc --live c": (calls: Calls) => [calls.collect("c")],
  "Go ADD b": (calls: Calls) => [calls.asGo(calls.add("b"))],
  "Go ADD a": (calls: Calls) => [calls.asGo(calls.add("a"))],
  "Go ADD e": (calls: Calls) => [calls.asGo(calls.add("e"))],
  "Go ADD c": (calls: Calls) => [calls.asGo(calls.add("c"))],
  "DEL c, ADD b, directory lock": (calls: Calls) =>
    [calls.del("c"), calls.add("b")].map(byDirectory),
  "ADD c, ADD b": (calls: Calls) => [calls.add("c"), calls.add("b")],
  "ADD c": (calls: Calls) => [calls.add("c")],
  "ADD c, directory lock": (calls: Calls) => [byDirectory(calls.add("c"))],
  "Go DEL c": (calls: Calls) => [calls.asGo(calls.del("c"))],
  "ADD a, directory lock": (calls: Calls) => [byDirectory(calls.add("a"))],
  "DEL c, ADD b": (calls: Calls) => [calls.del("c"), calls.add("b")],
  "ADD b, directory lock": (calls: Calls) => [byDirectory(calls.add("b"))],
  "DEL a, directory lock": (calls: Calls) => [byDirectory(calls.del("a"))],
  "DEL c, directory lock": (calls: Calls) => [byDirectory(calls.del("c"))],
} satisfies Readonly<Record<string, (calls: Calls) => Thread>>;

export type Kind = keyof typeof kinds;

/** These calls at once, in a network in which `c` has an address. */
export function cast(threads: readonly Kind[], more: Omit<Partial<Cast>, "threads"> = {}): Cast {
  const name = `${threads.join(" ∥ ")}${more.name === undefined ? "" : `, ${more.name}`}`;
  // Nobody would release it otherwise.
  const isGivenUp = threads.some((kind) => kind === "GC a" || kind === "release c");
  return {
    dead: isGivenUp ? ["c"] : [],
    ...more,
    name,
    threads: (calls) => threads.map((kind) => kinds[kind](calls)),
  };
}

/** Before: these containers have an address. */
export function holding(...containers: readonly string[]): (calls: Calls) => readonly Program[] {
  return (calls) => containers.map((container) => calls.add(container));
}

/** After a boot: these calls at once. */
export function booting(...threads: readonly Kind[]): (calls: Calls) => readonly Thread[] {
  return (calls) => threads.map((kind) => kinds[kind](calls));
}

/** Networks that differ from the usual one. */
export const networks = {
  same: { name: "repeatedAdd same", ipam: { repeatedAdd: "same" } },
  dual: { name: "dual stack", pools: [v4, v6] },
  /** As on ext4 with inodes of 128 bytes. */
  seconds: {
    name: "nearly full, times of a second",
    before: holding("c", "d"),
    disk: (disk: MemoryDisk) => {
      disk.resolution = 1_000_000_000n;
    },
  },
  /** What nobody may release but its own calls. */
  living: { name: "which lives", dead: [] },
  nearlyFull: { name: "nearly full", before: holding("c", "d") },
  full: { name: "full", before: holding("c", "d", "e") },
  booted: { name: "full before the boot", before: holding("c", "d", "e"), hasBooted: true },
} as const satisfies Readonly<Record<string, Omit<Partial<Cast>, "threads">>>;

/** The calls of the containers' former network namespaces. */
function before({ pools }: Calls): Calls {
  return new Calls({}, pools);
}

/** Full networks in which `d`, or another container, is dead or may seem so. */
export const graves = {
  /** The next network namespace gets the number of its own. */
  gone: { name: "full, d gone", before: holding("c", "d", "e"), dead: ["d"] },
  /** The next network namespace gets another number, so that nothing has its own. */
  goneForGood: {
    name: "full, d gone and its number free",
    before: (calls) => [
      ...[calls.mount("x"), ...holding("c", "d", "e")(calls)],
      ...[calls.unmount("d"), calls.unmount("x")],
    ],
    dead: ["d"],
  },
  /** libcni's cache names the network namespace that it had; of one that is started again, until its ADD has ended. */
  remembered: {
    name: "full, d gone and in libcni's cache",
    before: holding("c", "d", "e"),
    dead: ["d"],
    disk: (disk: MemoryDisk) => {
      const { name, text } = cacheEntry("net", "d", { netns: namespacePath("d", "") });
      disk.put(`/var/lib/cni/results/${name}`, text);
    },
  },
  itsNumberUsed: {
    name: "full, d gone and its number b's",
    before: (calls) => [calls.add("c"), calls.add("d"), calls.unmount("d"), calls.add("b")],
    dead: ["d"],
  },
  itsPathUsed: {
    name: "full, d gone and its path another's",
    before: (calls) => [
      ...holding("c", "d", "e")(calls),
      ...[calls.unmount("d"), calls.mount("x"), calls.mount("d"), calls.unmount("x")],
    ],
    dead: ["d"],
  },
  itsProcessGone: {
    name: "full, a process gone",
    before: holding("c", BY_PROCESS, "e"),
    dead: [BY_PROCESS],
  },
  itsProcessAnother: {
    name: "full, a process gone and its id another's",
    before: (calls) => [
      ...holding("c", BY_PROCESS, "e")(calls),
      ...[calls.unmount(BY_PROCESS), calls.mount("x"), calls.mount(BY_PROCESS)],
      calls.unmount("x"),
    ],
    dead: [BY_PROCESS],
  },
  /** The first thread of its only process has ended, and its network namespace is mounted nowhere. */
  zombie: {
    name: "full, d a zombie with a thread",
    before: (calls) => [
      ...holding("c", "d", "e")(calls),
      calls.runtime("zombie", (kernel) => kernel.startProcess(3000, calls.namespaceOf("d"), true)),
      calls.unmount("d"),
    ],
    spared: ["d"],
  },
  mountedElsewhere: {
    name: "full, d mounted elsewhere",
    before: (calls) => [
      ...holding("c", "d", "e")(calls),
      calls.runtime("bind", (kernel) => kernel.bind(calls.namespaceOf("d"), "/run/d")),
      calls.unmount("d"),
    ],
    spared: ["d"],
  },
  /** From within a container. */
  unseen: {
    name: "full, d not seen",
    before: (calls) => [
      ...holding("c", "d", "e")(calls),
      calls.runtime("hide", (kernel) => {
        kernel.startProcess(3000, calls.namespaceOf("d"));
        kernel.seesNode = false;
      }),
      calls.unmount("d"),
    ],
    spared: ["c", "d", "e"],
  },
  directoryUnseen: {
    name: "full, a directory of namespaces not seen",
    before: (calls) => [...holding("c", ELSEWHERE, "e")(calls), calls.unmount(ELSEWHERE)],
    spared: [ELSEWHERE],
  },
  ofNoPod: { name: "full, ingress gone", before: holding("c", INGRESS, "e"), dead: [INGRESS] },
  never: {
    name: "full, d gone, reclaim never",
    ipam: { reclaim: "never" },
    before: holding("c", "d", "e"),
    dead: ["d"],
  },
  ofGoPlugin: {
    name: "full, d the Go plugin's",
    before: (calls) => [
      ...[calls.add("c"), calls.asGo(calls.add("d")), calls.add("e")],
      calls.runtime("configure", (kernel) => kernel.configure(calls.namespaceOf("d"), "10.0.0.3")),
    ],
  },
} as const satisfies Readonly<Record<string, Omit<Partial<Cast>, "threads">>>;
