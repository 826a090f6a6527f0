/** Which searches are made, and in which extent of the tests. */

import type { Extent } from "../harness/extent.ts";
import { booting, type Cast, cast, holding, type Kind, prepare, type Trouble } from "./scenes.ts";
import type { Counts, Step } from "./search.ts";

/** A search. */
export interface Row {
  readonly cast: Cast;
  readonly trouble: keyof typeof troubles;
  readonly extent: Extent;
}

const eio = { changes: ["EIO"], reads: ["EIO"] };
const each = { changes: ["EIO", "ENOSPC", "EACCES", "EROFS"], reads: ["EIO", "EACCES", "EMFILE"] };

/** What may happen, once in a schedule, at any point of it. */
export const troubles = {
  nothing: { faults: [] },
  stops: { faults: ["killed", "late", "boot"] },
  errors: { faults: ["error", "done, but error"], codes: eio },
  "each error": { faults: ["error", "done, but error"], codes: each },
  removals: { faults: ["no lock file", "no .host-local"] },
  "two stops": { faults: ["killed", "late", "boot"], most: 2 },
} as const satisfies Readonly<Record<string, Trouble>>;

const own: readonly Kind[] = ["ADD a", "ADD b", "ADD a, unheard", "DEL a", "DEL c", "DEL c, ADD c"];
const others: readonly Kind[] = [
  "CHECK c",
  "STATUS",
  "GC c",
  "GC a",
  "release c",
  "Go ADD b",
  "Go DEL c",
];
const unlocked: readonly Kind[] = ["ADD b, directory lock", "DEL c, directory lock"];
const main: readonly Kind[] = ["ADD a", "ADD b", "DEL a", "DEL c", "GC a", "Go ADD b"];

function pairsOf(kinds: readonly Kind[], more = {}): readonly Cast[] {
  return kinds.flatMap((kind, at) => kinds.slice(at).map((other) => cast([kind, other], more)));
}

function pairsBetween(kinds: readonly Kind[], those: readonly Kind[]): readonly Cast[] {
  return kinds.flatMap((kind) => those.map((other) => cast([kind, other])));
}

const same = { name: "repeatedAdd same", ipam: { repeatedAdd: "same" } };
const reuse = {
  name: "sticky, reuseDelaySeconds, history",
  ipam: { sticky: "pod", reuseDelaySeconds: 60, history: true },
};
const dual = { name: "dual stack", isDual: true };
const booted = {
  name: "full before the boot",
  before: holding("c", "d", "e"),
  hasBooted: true,
};
const configured = [
  ...pairsOf(["ADD a", "ADD a, unheard", "DEL a, ADD a"], same),
  ...pairsOf(["ADD a", "ADD b, unheard", "DEL c"], reuse),
  ...pairsOf(["ADD a", "ADD b, unheard", "DEL c"], dual),
  ...pairsOf(["ADD a", "ADD b", "DEL c"], booted),
  ...pairsOf(["ADD a", "ADD b, unheard", "DEL c"], {
    name: "nearly full",
    before: holding("c", "d"),
  }),
];

const rebooted = {
  name: "after a boot ADD b ∥ ADD d ∥ Go ADD e",
  afterBoot: booting("ADD b", "ADD d", "Go ADD e"),
};

const triples = [
  cast(["ADD a", "ADD b", "DEL c"]),
  cast(["ADD a", "DEL a", "ADD b"]),
  cast(["ADD a, unheard", "DEL a, ADD a", "ADD b"], {
    name: "nearly full",
    before: holding("c", "d"),
  }),
  cast(["ADD a, unheard", "ADD a", "ADD b"], same),
  cast(["ADD a", "Go ADD b", "DEL c"]),
  cast(["ADD a", "GC a", "DEL c, ADD c"]),
  cast(["release c", "DEL c, ADD c", "ADD b"], { name: "nearly full", before: holding("c", "d") }),
];

/** A process that does not exclude the other releases an address and hands it out again, while the other looks at it. */
const overtaken = [
  cast(["ADD c", "DEL c, ADD b, directory lock"], {
    ...same,
    name: "repeatedAdd same, full",
    before: holding("c", "d", "e"),
  }),
  cast(["DEL c", "DEL c, ADD b, directory lock"], { name: "full", before: holding("c", "d", "e") }),
];

function rows(casts: readonly Cast[], trouble: Row["trouble"], extent: Extent): readonly Row[] {
  return casts.map((one) => ({ cast: one, trouble, extent }));
}

export const plan: readonly Row[] = [
  ...rows([...pairsOf([...own, ...others]), ...configured], "nothing", "short"),
  ...rows(pairsBetween([...own, ...others, ...unlocked], unlocked), "nothing", "full"),
  ...rows(pairsOf(main), "stops", "short"),
  ...rows(pairsOf([...own, ...others]), "stops", "full"),
  ...rows(configured, "stops", "full"),
  ...rows([cast(["ADD a"], rebooted), cast(["DEL c"], rebooted)], "stops", "full"),
  ...rows(
    [...own, ...others].map((kind) => cast([kind])),
    "errors",
    "short",
  ),
  ...rows([...pairsOf([...own, ...others]), ...configured], "errors", "full"),
  ...rows(pairsOf(["ADD a", "DEL a", "DEL c"]), "removals", "full"),
  ...rows(triples, "nothing", "full"),
  ...rows(overtaken, "nothing", "full"),
  ...rows(triples, "stops", "full"),
  ...rows(pairsBetween([...own, ...others, ...unlocked], unlocked), "stops", "exhaustive"),
  ...rows(pairsBetween([...own, ...others, ...unlocked], unlocked), "errors", "exhaustive"),
  ...rows([...pairsOf([...own, ...others]), ...configured], "each error", "exhaustive"),
  ...rows(pairsOf([...own, ...others]), "removals", "exhaustive"),
  ...rows([...pairsOf([...own, ...others]), ...triples], "two stops", "exhaustive"),
];

/** Where a rule is known to be broken, and why that stays. */
export const known: readonly {
  readonly search: string;
  readonly broken: RegExp;
  readonly why: string;
}[] = [
  {
    search: "removals: ADD a ∥ ADD a",
    broken: /a DEL of a leaves/,
    why: "an attachment is added twice at once, and the lock file is removed between: each reserves, and the first seals the journal without the second",
  },
  {
    search: "nothing: ADD b ∥ ADD b, directory lock",
    broken: /^a DEL of b leaves/,
    why: "the same by two processes that do not exclude each other",
  },
  {
    search: "nothing: ADD c ∥ DEL c, ADD b, directory lock, repeatedAdd same, full",
    broken: /^b was told 10\.0\.0\.2, which is c/,
    why: "a repeated ADD replaces a file that another, whom the lock does not exclude, has released and handed out since it looked",
  },
  {
    search: "nothing: DEL c ∥ DEL c, ADD b, directory lock, full",
    broken: /^b was told 10\.0\.0\.2, which is free/,
    why: "the same, of a DEL",
  },
  ...["a", "b"].map((id) => ({
    search: `errors: ADD ${id} ∥ DEL c, full before the boot`,
    broken: /was told 10\.0\.0\.2, which is free/,
    why: "a DEL that cannot take the lock goes on without it, and removes the file that an ADD has reclaimed and put there since it looked",
  })),
];

/** How a search is called. */
export function nameOf({ cast: { name }, trouble }: Row): string {
  return `${trouble}: ${name}`;
}

/** What a search has found. */
export interface Found {
  readonly row: Row;
  readonly counts: Counts;
  /** The first schedule that breaks a rule. */
  readonly broken:
    | { readonly steps: readonly Step[]; readonly broken: readonly string[] }
    | undefined;
}

/** Makes a search. */
export function search(row: Row): Found {
  const prepared = prepare(row.cast, troubles[row.trouble]);
  const broken = prepared.search.run(prepared.judge.judge);
  return { row, counts: prepared.search.counts, broken };
}

const extents: readonly Extent[] = ["short", "full", "exhaustive"];

/** The searches of an extent; no search is made twice. */
export function planFor(extent: Extent): readonly Row[] {
  const wanted = plan.filter((row) => extents.indexOf(row.extent) <= extents.indexOf(extent));
  const names = wanted.map(nameOf);
  return wanted.filter((_, at) => names.indexOf(names[at] ?? "") === at);
}
