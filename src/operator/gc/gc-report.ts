/** The report of `gc`. */

import { formatAddress } from "../../ipam/address.ts";
import type { NetworkDirectory } from "../node/network-directories.ts";
import { containerOf, interfaceOf, type NodeReservation } from "../node/node-reservations.ts";
import { columns, formatTable } from "../output/table.ts";
import type { Decided, Decision } from "./decision.ts";

/** The directory of a network with the decisions on its reservations. */
export interface Collection {
  readonly directory: NetworkDirectory;
  readonly decided: readonly (Decided & { readonly reservation: NodeReservation })[];
  /** The file names of the released reservations. */
  readonly released: ReadonlySet<string>;
  /** Why nothing was released, although there are dead reservations. */
  readonly refused: string | undefined;
  /** Whether the dead reservations were recorded for the next run. */
  readonly isRecorded: boolean;
}

type State = "waiting" | "due" | "released" | "kept" | "refused";

const stateTexts: Readonly<Record<State, string>> = {
  waiting: "dead; released when a later run finds it dead again",
  due: "dead; released with --yes",
  released: "released",
  kept: "kept; changed in the meantime, or could not be released",
  refused: "refused; see the error message",
};

/** A table of the dead reservations, and the counts. */
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
    `${of("young")} in the grace period`,
    `${of("unknown")} unknown`,
    `${of("ownerless")} without a container`,
    `${of("waiting") + of("due")} dead`,
  ];
  return `${rows.length === 0 ? "" : `${table}\n`}${total} reservations: ${counts.join(", ")}; ${released} released\n`;
}

/** The JSON form, see the command's description. */
export function collectionDocument(collections: readonly Collection[], isDryRun: boolean): object {
  return {
    dryRun: isDryRun,
    networks: collections.map(({ directory: { location }, decided, released, refused }) => ({
      network: location.network,
      directory: location.directory,
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

function count(decided: readonly Decided[], expected: Decision): number {
  return decided.filter(({ decision }) => decision === expected).length;
}
