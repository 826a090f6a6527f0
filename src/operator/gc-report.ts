/** What a collection found and did, for people and for programs. */

import { formatAddress } from "../ipam/address.ts";
import { containerOf, type Item, interfaceOf } from "./inventory.ts";
import type { Place } from "./places.ts";
import { columns, formatTable } from "./table.ts";
import type { Judged, Verdict } from "./verdict.ts";

/** A place with what was judged there. */
export interface Collection {
  readonly place: Place;
  readonly judged: readonly (Judged & { readonly item: Item })[];
  /** The names of the files that were released. */
  readonly released: ReadonlySet<string>;
  /** Why nothing was released, although it seems dead. */
  readonly refused: string | undefined;
  /** Whether the next run will know what this one saw. */
  readonly isNoted: boolean;
}

type State = "waiting" | "due" | "released" | "kept" | "refused";

const stateTexts: Readonly<Record<State, string>> = {
  waiting: "dead; released once a later run finds it dead, too",
  due: "dead; released with --yes",
  released: "released",
  kept: "kept: changed meanwhile, or could not be released",
  refused: "refused, see the message",
};

/** A table of the dead, and the counts. */
export function formatCollection(collections: readonly Collection[], isDryRun: boolean): string {
  const rows = collections.flatMap((collection) =>
    deadOf(collection).map((one) => [
      collection.place.location.network,
      formatAddress(one.item.address),
      containerOf(one.item.owner),
      interfaceOf(one.item.owner) || "-",
      stateTexts[stateOf(collection, one, isDryRun)],
    ]),
  );
  const table = formatTable(columns("NETWORK", "ADDRESS", "CONTAINER", "INTERFACE", "STATE"), rows);
  const total = collections.reduce((sum, { judged }) => sum + judged.length, 0);
  const of = (verdict: Verdict): number =>
    collections.reduce((sum, { judged }) => sum + count(judged, verdict), 0);
  const released = collections.reduce((sum, one) => sum + one.released.size, 0);
  const counts = [
    `${of("alive")} alive`,
    `${of("young")} too young to say`,
    `${of("unknown")} not known`,
    `${of("ownerless")} without a container`,
    `${of("waiting") + of("due")} dead`,
  ];
  return `${rows.length === 0 ? "" : `${table}\n`}${total} reservations: ${counts.join(", ")}; ${released} released\n`;
}

/** See the command's description. */
export function collectionDocument(collections: readonly Collection[], isDryRun: boolean): object {
  return {
    dryRun: isDryRun,
    networks: collections.map(({ place, judged, released, refused }) => ({
      network: place.location.network,
      directory: place.location.directory,
      refused: refused ?? null,
      reservations: judged.length,
      alive: count(judged, "alive"),
      unknown: count(judged, "unknown"),
      ownerless: count(judged, "ownerless"),
      young: count(judged, "young"),
      waiting: count(judged, "waiting"),
      due: count(judged, "due"),
      released: released.size,
    })),
    dead: collections.flatMap((collection) =>
      deadOf(collection).map((one) => ({
        network: collection.place.location.network,
        address: formatAddress(one.item.address),
        container: containerOf(one.item.owner),
        interface: interfaceOf(one.item.owner),
        since: one.item.since === undefined ? null : new Date(one.item.since).toISOString(),
        seenDeadSince: new Date(one.sighting?.since ?? 0).toISOString(),
        state: stateOf(collection, one, isDryRun),
        path: one.item.path,
      })),
    ),
  };
}

function deadOf({ judged }: Collection): Collection["judged"] {
  return judged.filter(({ sighting }) => sighting !== undefined);
}

function stateOf(
  { released, refused }: Collection,
  { verdict, item }: Collection["judged"][number],
  isDryRun: boolean,
): State {
  if (released.has(item.name)) return "released";
  if (refused !== undefined) return "refused";
  if (verdict === "waiting") return "waiting";
  return isDryRun ? "due" : "kept";
}

function count(judged: readonly Judged[], wanted: Verdict): number {
  return judged.filter(({ verdict }) => verdict === wanted).length;
}
