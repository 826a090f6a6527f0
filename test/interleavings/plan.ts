/** The searches, and the extents of the tests in which they are made. */

import { formatRecord } from "../../src/store/history/history-record.ts";
import { type Extent, isIn } from "../harness/extent.ts";
import type { MemoryDisk } from "../harness/memory-disk.ts";
import { DATA_DIRECTORY } from "../harness/memory-machine.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";
import { v4 } from "./calls.ts";
import { HISTORY } from "./history.ts";
import {
  afterGoPlugin,
  type Cast,
  cast,
  forgotten,
  graves,
  handles,
  type Network,
  networks,
  prepare,
  type Trouble,
} from "./scenes.ts";
import type { Counts, Violation } from "./search.ts";

/** A search. */
export interface Row {
  readonly cast: Cast;
  readonly trouble: keyof typeof troubles;
  readonly extent: Extent;
}

const eio = { changes: ["EIO"], reads: ["EIO"] };
const each = { changes: ["EIO", "ENOSPC", "EACCES", "EROFS"], reads: ["EIO", "EACCES", "EMFILE"] };

/** The troubles that may happen. */
export const troubles = {
  nothing: { faults: [] },
  stops: { faults: ["killed", "late", "boot"] },
  errors: { faults: ["error", "done, but error"], codes: eio },
  "each error": { faults: ["error", "done, but error"], codes: each },
  refusals: { faults: ["error for good", "error at all of a kind"], codes: each },
  removals: { faults: ["no lock file", "no .host-local"] },
} as const satisfies Readonly<Record<string, Trouble>>;

const { same, dual, nearlyFull, seconds, full, booted, living } = networks;

const own = ["ADD a", "ADD b", "ADD a, unheard", "DEL a", "DEL c", "DEL c, ADD c"];
const others = ["CHECK c", "STATUS", "GC c", "GC a", "release c", "Go ADD b", "Go DEL c"];
const unlocked = ["ADD b, directory lock", "DEL c, directory lock"];

function casts(threads: readonly string[], network?: Network): readonly Cast[] {
  return threads.map((thread) => cast(thread, network));
}

/** All pairs of two threads, also of a thread with itself. */
function pairsOf(threads: readonly string[], network?: Network): readonly Cast[] {
  return threads.flatMap((thread, at) =>
    threads
      .slice(at)
      .filter((second) => !isTwin(thread, second))
      .map((second) => cast(`${thread} ∥ ${second}`, network)),
  );
}

/** Whether a pair repeats another one with `a` in place of `b`: neither was there before, so they are interchangeable. */
function isTwin(thread: string, second: string): boolean {
  return thread === "ADD b" && (second === thread || !/\b[ab]\b/.test(second));
}

const reuse = {
  name: "sticky, reuseDelaySeconds, history",
  ipam: { sticky: "pod", reuseDelaySeconds: 60, history: true },
};
const DIRECTORY = `${DATA_DIRECTORY}/net`;

const empties = {
  name: "beside empty files",
  disk: (disk: MemoryDisk) => {
    disk.put(`${DIRECTORY}/10.0.0.3`, "");
    disk.put(`${DIRECTORY}/10.0.0.4`, "\0\0\0");
  },
};
const configured = [
  cast("ADD a ∥ ADD b", empties),
  ...pairsOf(["ADD a", "ADD a, unheard", "DEL a, ADD a"], same),
  ...pairsOf(["ADD a", "ADD b, unheard", "DEL c"], reuse),
  ...pairsOf(["ADD a", "ADD b, unheard", "DEL c"], dual),
  ...pairsOf(["ADD a", "ADD b", "DEL c"], booted),
  ...pairsOf(["ADD a", "ADD b, unheard", "DEL c"], nearlyFull),
];

/** A network with more reservations than ADD tries before it reads the directory. */
const wide = {
  name: "well filled",
  before: "",
  pools: [
    {
      ranges: [{ subnet: "10.0.0.0/24", rangeEnd: "10.0.0.14" }],
      addresses: Array.from({ length: 13 }, (_, at) => `10.0.0.${at + 2}`),
    },
  ],
  disk: (disk: MemoryDisk) => {
    for (let at = 2; at <= 12; at++) disk.put(`${DIRECTORY}/10.0.0.${at}`, `n${at}\r\neth0`);
  },
};
const pairs = {
  name: "subnets of two addresses",
  pools: [
    {
      ranges: [{ subnet: "10.0.0.0/31" }, { subnet: "10.0.0.2/31" }],
      addresses: ["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3"],
    },
  ],
};
const mounted = {
  name: "on another file system",
  disk: (disk: MemoryDisk) => disk.mount(DIRECTORY),
};
const mountedEmpties = {
  name: "on another file system, full but for empty files",
  disk: (disk: MemoryDisk) => {
    mounted.disk(disk);
    empties.disk(disk);
  },
};
const linkless = {
  name: "without hard links",
  disk: (disk: MemoryDisk) => {
    disk.hardLinks = false;
  },
};
const rangesFile = "/etc/cni/ranges.json";
const fromFile = {
  name: "ranges in a file",
  ipam: { ranges: [], rangesFile },
  disk: (disk: MemoryDisk) => disk.put(rangesFile, JSON.stringify({ net: [v4.ranges] })),
};
const legacy = {
  name: "of a file without interface",
  before: "",
  disk: (disk: MemoryDisk) => disk.put(`${DIRECTORY}/10.0.0.3`, "c"),
};
const returning = {
  ...reuse,
  name: `${reuse.name}, of a pod that comes back`,
  before: "ADD c, ADD a, DEL a",
};
const halfFull = { name: "after a boot", hasBooted: true };

const told = { ipam: { history: { maxBytes: 4096 } } };
const toldBesideEmpties = { ...empties, ...told, name: "history, beside empty files" };
/** A history that begins anew with the next line. */
const toldAtLength = {
  ...told,
  name: "history that is full",
  disk: (disk: MemoryDisk) => {
    const line = { container: "z", interfaceName: "eth0", pod: "", time: 0 };
    const text = formatRecord({ ...line, address: "10.9.0.0", verb: "DEL" });
    disk.put(HISTORY, text.repeat(Math.floor(4030 / text.length)));
  },
};

/** One call alone, in each network that makes a difference to it. */
const alone: readonly Cast[] = [
  cast("ADD a", { name: "the first of all", before: "" }),
  ...[dual, wide, pairs, empties, mounted, linkless, fromFile, halfFull, booted].map((network) =>
    cast("ADD a", network),
  ),
  ...casts(["ADD a", "ADD b"], returning),
  cast("ADD b of 10.0.0.4"),
  cast("ADD b of 2001:db8::2", dual),
  cast("ADD c of 10.0.0.4, unheard"),
  cast("ADD c", { ...dual, name: "dual stack, repeatedAdd same", ipam: same.ipam }),
  ...casts(["ADD c", "ADD c, ADD b"], {
    ...booted,
    name: "full before the boot, repeatedAdd same",
    ipam: same.ipam,
  }),
  ...[dual, legacy, booted, reuse].map((network) => cast("DEL c", network)),
  ...[mountedEmpties, toldBesideEmpties, toldAtLength].map((network) => cast("ADD a", network)),
  cast("DEL c", toldAtLength),
  cast("GC a", { ...told, name: "history" }),
  ...casts(["DEL a", "GC a", "CHECK c"], dual),
  cast("STATUS", empties),
];

const triples = [
  cast("ADD a ∥ ADD b ∥ DEL c"),
  cast("ADD a ∥ DEL a ∥ ADD b"),
  cast("ADD a, unheard ∥ DEL a, ADD a ∥ ADD b", nearlyFull),
  cast("ADD a, unheard ∥ ADD a ∥ ADD b", same),
  cast("ADD a ∥ Go ADD b ∥ DEL c"),
  cast("ADD a ∥ GC a ∥ DEL c, ADD c"),
];

/** A process whose lock does not exclude the other releases an address and hands it out again, while the other looks at it. */
const overtaken = [
  cast("ADD c ∥ DEL c, ADD b, directory lock", {
    ...same,
    name: "repeatedAdd same, full",
    before: full.before,
  }),
  cast("DEL c ∥ DEL c, ADD b, directory lock", full),
];

const plainPairs = pairsOf([...own, ...others]);

/** Whether a cast has no command `release`: that makes so many system calls that a search with a fault takes minutes. */
const isQuick = ({ name }: Cast): boolean => !name.includes("release");
const quickPairs = plainPairs.filter(isQuick);

const withoutLock = [...own, ...others, ...unlocked].flatMap((thread) =>
  unlocked.map((second) => cast(`${thread} ∥ ${second}`)),
);

const singles = casts([...own, ...others]);

/** One call beside containers that are dead, or only seem so. */
const besideDead = [
  ...[...Object.values(graves), ...Object.values(handles)].flatMap((grave) =>
    casts(["ADD a", "GC null", "GC c"], grave),
  ),
  // Only the list of a GC tells whether a virtual machine that the Go plugin has added lives.
  ...Object.values(afterGoPlugin).flatMap((grave) => casts(["ADD a", "GC null"], grave)),
];
/** Casts beside dead containers that are no virtual machines. */
const besideDeadContainers = Object.values(graves).flatMap((grave) =>
  casts(["ADD a", "GC c"], { ...grave, name: `${grave.name}, no machines`, hasTaps: false }),
);
const { gone, itsNumberUsed } = graves;
const reclaiming = [
  ...pairsOf(["ADD a", "ADD b", "GC null", "DEL d", "ADD d"], gone),
  cast("ADD a ∥ GC c", gone),
  cast("ADD a ∥ GC null", itsNumberUsed),
  cast("ADD b of 10.0.0.3", gone),
];
/** The network namespace of `d` gets its first process, and is then mounted nowhere. */
const PROCESS_ALONE = "start d, unmount d";

/** A pod ends while other calls look. Another pod gets its number at once, or it has a process before its mount is gone. */
const ending = [
  ...["ADD a", "GC null", "GC c"].map((call) => cast(`${call} ∥ unmount d, mount b, ADD b`, full)),
  ...["ADD a", "GC null"].map((call) =>
    cast(`${call} ∥ ${PROCESS_ALONE}`, { ...full, spared: ["d"] }),
  ),
  ...[graves.handedOver, handles.handedOver].flatMap((grave) =>
    ["ADD a", "GC null", "GC c"].map((call) => cast(`${call} ∥ fork d`, grave)),
  ),
  ...["ADD a", "GC null"].map((call) => cast(`${call} ∥ unmount d, mount b, ADD b`, handles.full)),
];
/** A container gets another network namespace within a tick, with the same address and the same number of its file. */
const again = cast("ADD d, unmount d, DEL d, mount d, ADD d, ADD a", {
  name: "nearly full, handles",
  before: "ADD c, ADD e",
  hasHandles: true,
  hasTaps: true,
});
/** The Go plugin gives a container another network namespace in the same way. */
export const againByGoPlugin = cast("ADD d, unmount d, Go DEL d, mount d, Go ADD d, ADD a", {
  name: "nearly full, handles",
  before: "ADD c, ADD e",
  hasHandles: true,
  hasTaps: true,
});
/** The journal is written anew while STATUS, which takes no lock, asks whether a dead container is there. */
const asked = cast("STATUS ∥ DEL b", {
  name: "full, d gone, after the Go plugin, handles",
  before: "ADD c, ADD d, ADD e, unmount d, Go DEL e, Go ADD e",
  dead: ["d"],
  hasHandles: true,
});
/** The address of a living container is not handed out, whatever the disk has lost, and while the disk loses it. */
const forgetting = [
  ...Object.values(forgotten).flatMap((network) =>
    casts(["ADD a", "ADD b of 10.0.0.3", "GC c", "gc"], network),
  ),
  ...[forgotten.lost, forgotten.moved].map((network) => cast("ADD a ∥ ADD b", network)),
  cast("ADD a, lose all, ADD b", { name: "macvlan", before: "macvlan all" }),
  ...casts(["ADD a, ADD b ∥ lose all", "ADD a, lose all ∥ ADD b", "ADD a, DEL c ∥ lose all"]),
  ...casts(["ADD a ∥ ptp DEL c", "ADD a ∥ ptp DEL c, ADD b"], full),
];
/**
 * The commands, alone and beside calls: a command chooses a reservation without the lock, and before it has the lock, the
 * address is released and handed out again.
 */
const { goneForGood, remembered } = graves;
const commandsAlone = [
  cast("release c", living),
  ...[...Object.values(graves), ...Object.values(handles)].flatMap((grave) =>
    casts(["gc", "gc --live c"], grave),
  ),
  ...[gone, goneForGood, remembered].map((grave) => cast("release d", grave)),
];
const commandsInTrouble = [
  cast("release c", living),
  cast("release d", remembered),
  ...casts(["gc", "gc --live c"], gone),
  cast("gc", graves.ofNoPod),
  cast("gc", graves.ofGoPlugin),
];
const commands = [
  ...["ADD a", "ADD d", "DEL d, ADD d", "GC null", "gc"].map((call) =>
    cast(`release d ∥ ${call}`, goneForGood),
  ),
  cast("release d ∥ ADD d", remembered),
  ...casts(["gc ∥ GC null", "gc ∥ DEL d"], goneForGood),
  cast(`gc ∥ ${PROCESS_ALONE}`, { ...full, spared: ["d"] }),
  ...casts(["gc --live c ∥ Go ADD b", "gc --live c ∥ DEL c"]),
];
/** A container is started again under its id, beside the DEL of the former one. */
const restarted = [
  cast("ADD d ∥ DEL d ∥ ADD a", gone),
  cast("ADD d, unheard ∥ DEL d, ADD d ∥ ADD a", gone),
  cast("ADD a, unheard ∥ DEL a, ADD a ∥ GC null", { ...nearlyFull, dead: ["d"] }),
];

/** An UNDO is about to release an address, which is handed out again at once, to the same attachment. */
const undone = [nearlyFull, seconds, { ...mounted, before: nearlyFull.before }].map((network) =>
  cast("ADD a, unheard ∥ DEL a, ADD a", network),
);

const plan: readonly Row[] = [
  ...rows("short", "nothing", [...plainPairs, ...configured, ...undone]),
  ...rows("short", "nothing", pairsOf(["ADD a", "DEL c", "GC c", "Go ADD b"], seconds)),
  ...rows("short", "nothing", [...besideDead, ...besideDeadContainers, ...reclaiming]),
  ...rows("short", "nothing", [...ending, again, againByGoPlugin, asked]),
  ...rows("short", "nothing", [...commandsAlone, ...commands]),
  ...rows("short", "nothing", forgetting),
  ...rows("full", "stops", forgetting.filter(isQuick)),
  ...rows("full", "nothing", [...restarted, ...triples, ...withoutLock, ...overtaken]),
  ...rows("short", "stops", pairsOf(["ADD a", "ADD b", "DEL a", "DEL c", "GC a", "Go ADD b"])),
  ...rows("short", "stops", alone),
  ...rows("full", "stops", [...quickPairs, ...configured, ...triples]),
  ...rows("full", "stops", [...besideDead, ...reclaiming, ...commandsInTrouble]),
  ...rows("short", "errors", [...singles, ...alone, ...besideDead.slice(0, 3)]),
  ...rows("full", "errors", sample([...quickPairs, ...configured], 4, seed)),
  ...rows("full", "errors", [...besideDead, ...commandsInTrouble]),
  ...rows("full", "each error", [...singles, ...alone]),
  ...rows("full", "refusals", [...singles, ...alone]),
  ...rows("full", "removals", [cast("ADD a ∥ DEL c"), ...pairsOf(["DEL a", "DEL c"])]),
  ...rows("exhaustive", "nothing", [cast("release c ∥ DEL c, ADD c ∥ ADD b", nearlyFull)]),
  ...rows("exhaustive", "removals", casts(["ADD a ∥ ADD a", "ADD a ∥ DEL a"])),
  ...rows("exhaustive", "removals", [cast("ADD a ∥ DEL a", dual)]),
  ...rows("exhaustive", "errors", [...quickPairs, ...configured]),
];

function rows(extent: Extent, trouble: Row["trouble"], casts: readonly Cast[]): readonly Row[] {
  return casts.map((calls) => ({ cast: calls, trouble, extent }));
}

/** The searches that are known to break a rule, and why that stays. */
export const known: readonly {
  readonly search: RegExp;
  readonly broken: RegExp;
  readonly why: string;
}[] = [
  {
    search: /: ADD a, unheard ∥ DEL a, ADD a, nearly full, times of a second$/,
    broken: /^a keeps what it was never told/,
    why: "where times are kept in full seconds, another file of the same attachment may have the number and the time of the one that UNDO is about to release, which so is left to the DEL",
  },
  {
    search:
      /: gc --live c, full, (d a zombie with a thread|d mounted elsewhere|d not seen|a directory of namespaces not seen|d in a thread alone|d open in a daemon, handles that are not seen)$/,
    broken: /has lost/,
    why: "something that no record explains has the number of the network namespace, or namespaces are not seen: `gc` asks the operator's list, unless a process or an address shows the container",
  },
  {
    search: /: GC c, full, d the Go plugin's, its path gone and a process there$/,
    broken: /has lost/,
    why: "a virtual machine for which the Go plugin has reserved has its address in no network namespace, and nothing is recorded of it: GC releases by the list of the runtime",
  },
  {
    search: /^errors: (GC|gc --live) c, .*full/,
    broken: /has lost/,
    why: "the state directory cannot be read: GC and `gc` release by their list if there is neither a process nor an address in the network namespace",
  },
  {
    search: /: ADD b ∥ ADD b, directory lock$/,
    broken: /^a DEL of b leaves|^after the DELs of all/,
    why: "an attachment is added twice at once, by two processes that do not exclude each other: each reserves, and the first seals the journal without the second",
  },
  {
    search: /: ADD c ∥ DEL c, ADD b, directory lock, repeatedAdd same, full$/,
    broken: /^b was told 10\.0\.0\.2, which is c/,
    why: "a repeated ADD replaces a file that another call, which the lock does not exclude, has released and handed out since it looked",
  },
  {
    search: /: DEL c ∥ DEL c, ADD b, directory lock, full$/,
    broken: /^b was told 10\.0\.0\.2, which is free/,
    why: "the same, of a DEL",
  },
  {
    search: /errors?: ADD a ∥ DEL c, full before the boot$/,
    broken: /was told 10\.0\.0\.2, which is free/,
    why: "a DEL that cannot take the lock goes on without it, and removes the file that an ADD has reclaimed and put there since it looked",
  },
];

/** The name of a search. */
export function nameOf({ cast: { name }, trouble }: Row): string {
  return `${trouble}: ${name}`;
}

/** The findings of a search. */
export interface Found {
  readonly row: Row;
  readonly counts: Counts;
  /** The first schedule that breaks a rule in a way that is not known. */
  readonly broken: Violation | undefined;
  /** The known exception of this search, if it was found. */
  readonly known: (typeof known)[number] | undefined;
}

/** Makes a search. */
export function search(row: Row): Found {
  const prepared = prepare(row.cast, troubles[row.trouble]);
  const expected = known.find((exception) => exception.search.test(nameOf(row)));
  let isFound = false;
  const broken = prepared.search.run((end) => {
    const all = prepared.judge.judge(end);
    if (expected === undefined) return all;
    const others = all.filter((text) => !expected.broken.test(text));
    isFound ||= others.length < all.length;
    return others;
  });
  return { row, counts: prepared.search.counts, broken, known: isFound ? expected : undefined };
}

/** The searches of an extent and of smaller extents, each only once. */
export function planFor(extent: Extent): readonly Row[] {
  const wanted = plan.filter((row) => isIn(row.extent, extent));
  const names = wanted.map(nameOf);
  return wanted.filter((_, at) => names.indexOf(names[at] ?? "") === at);
}
