/** What a collection found and did, for people and for programs. */

import { formatAddress } from "../../ipam/address.ts";
import type { NetworkDirectory } from "../node/network-directories.ts";
import { containerOf, interfaceOf, type NodeReservation } from "../node/node-reservations.ts";
import { columns, formatTable } from "../output/table.ts";
import type { Decided, Decision } from "./decision.ts";

/** A place with what was judged there. */
export interface Collection {
  readonly directory: NetworkDirectory;
  readonly decided: readonly (Decided & { readonly reservation: NodeReservation })[];
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
      collection.directory.location.network,
      formatAddress(one.reservation.address),
      containerOf(one.reservation.owner),
      interfaceOf(one.reservation.owner) || "-",
      stateTexts[stateOf(collection, one, isDryRun)],
    ]),
  );
  const table = formatTable(columns("NETWORK", "ADDRESS", "CONTAINER", "INTERFACE", "STATE"), rows);
  const total = collections.reduce((sum, { decided }) => sum + decided.length, 0);
  const of = (decision: Decision): number =>
    collections.reduce((sum, { decided }) => sum + count(decided, decision), 0);
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
    networks: collections.map(({ directory, decided, released, refused }) => ({
      network: directory.location.network,
      directory: directory.location.directory,
      refused: refused ?? null,
      reservations: decided.length,
      alive: count(decided, "alive"),
      unknown: count(decided, "unknown"),
      ownerless: count(decided, "ownerless"),
      young: count(decided, "young"),
      waiting: count(decided, "waiting"),
      due: count(decided, "due"),
      released: released.size,
    })),
    dead: collections.flatMap((collection) =>
      deadOf(collection).map((one) => ({
        network: collection.directory.location.network,
        address: formatAddress(one.reservation.address),
        container: containerOf(one.reservation.owner),
        interface: interfaceOf(one.reservation.owner),
        since:
          one.reservation.since === undefined
            ? null
            : new Date(one.reservation.since).toISOString(),
        seenDeadSince: new Date(one.seenDead?.since ?? 0).toISOString(),
        state: stateOf(collection, one, isDryRun),
        path: one.reservation.path,
      })),
    ),
  };
}

function deadOf({ decided }: Collection): Collection["decided"] {
  return decided.filter(({ seenDead }) => seenDead !== undefined);
}

function stateOf(
  { released, refused }: Collection,
  { decision, reservation }: Collection["decided"][number],
  isDryRun: boolean,
): State {
  if (released.has(reservation.name)) return "released";
  if (refused !== undefined) return "refused";
  if (decision === "waiting") return "waiting";
  return isDryRun ? "due" : "kept";
}

function count(decided: readonly Decided[], wanted: Decision): number {
  return decided.filter(({ decision }) => decision === wanted).length;
}
