/** The report of `gc`. */

import type { Context } from "../../cli/command/command.ts";
import { logLine } from "../../cli/output/escape.ts";
import { plural } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatId, tableWidth } from "../../cli/output/terminal.ts";
import { mayBeDead } from "../../store/life/conclusion.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { Decided, DecidedReservation, Decision } from "./decision.ts";

/** How a run releases. */
interface Mode {
  readonly isDryRun: boolean;
  readonly isImmediate: boolean;
  /** The grace period, in milliseconds. */
  readonly grace: number;
}

/** The directory of a network with the decisions on its reservations. */
export interface Collection {
  readonly directory: NetworkDirectory;
  readonly decided: readonly DecidedReservation[];
  readonly released: ReadonlySet<NodeReservation>;
  /** Why the list is not believed there. */
  readonly refused: string | undefined;
  /** Whether dead reservations are left: any in a dry run, else those that were due, or any that could not be recorded. */
  readonly isLeft: boolean;
}

type State = "waiting" | "due" | "released" | "kept";

/**
 * A table of the reservations that are dead, of those that the list lacks although they are alive and, with `--now`, of those
 * that are too young for it; and the counts.
 */
export function formatCollection(
  context: Context,
  collections: readonly Collection[],
  mode: Mode,
): string {
  const { system } = context;
  const rows = collections.flatMap((collection) =>
    collection.decided.flatMap((one) => {
      const state = stateTextOf(context, collection, one, mode);
      if (state === undefined) return [];
      const { text, owner } = one.reservation;
      const id = formatId(system, containerOf(owner));
      const { network } = collection.directory.files;
      return [[network, text, id, interfaceOf(owner) || "-", state]];
    }),
  );
  const table = formatTable(
    columns("NETWORK", "ADDRESS", "CONTAINER", "?INTERFACE", "STATE"),
    rows,
    { width: tableWidth(system) },
  );
  const all = collections.flatMap(({ decided }) => decided);
  const { alive, unknown, unowned, young, inUse, waiting, due } = countsOf(all);
  const released = collections.reduce((sum, one) => sum + one.released.size, 0);
  const counts = [
    `${alive + inUse} alive`,
    `${young} in the grace period`,
    `${unknown} unknown`,
    `${unowned} without a container`,
    `${waiting + due} dead`,
  ];
  return `${rows.length === 0 ? "" : `${table}\n`}${plural(all.length, "reservation")}: ${counts.join(", ")}; ${released} released\n`;
}

/** What was released, a line for each reservation, in the form of the agent's log. */
export function formatReleases(collections: readonly Collection[]): string {
  return collections
    .flatMap(({ directory: { files }, decided, released }) =>
      decided
        .filter(({ reservation }) => released.has(reservation))
        .map(({ reservation: { text, owner } }) => {
          const holder = `held by ${containerOf(owner)}`;
          return logLine(`gc: released ${text} of ${files.network}, ${holder}`);
        }),
    )
    .join("");
}

/** `undefined` for a reservation that is not in the table. */
function stateTextOf(
  context: Context,
  collection: Collection,
  one: DecidedReservation,
  mode: Mode,
): string | undefined {
  const now = context.system.now();
  if (one.decision === "inUse") return `alive, though not in the list: ${one.conclusion.reason}`;
  if (one.decision === "young" && mode.isImmediate) {
    const { since } = one.reservation;
    if (since === undefined) return undefined;
    const time = `${formatMinute(since + mode.grace, now)}, or with --grace 0s`;
    if (one.conclusion.liveness === "dead") {
      return `kept until ${time}: younger than the grace period`;
    }
    return mayBeDead(one.conclusion)
      ? `undecided; a list decides after ${time}`
      : `undecided: ${one.conclusion.reason}`;
  }
  if (one.deadSince === undefined) return undefined;
  const state = stateOf(collection, one, mode);
  const dead = one.isBeforeBoot ? "dead, from before this boot" : "dead";
  if (state === "due") return `${dead}; released with --yes`;
  if (state === "released") return "released";
  if (state === "kept") return "kept; changed in the meantime, or could not be released";
  const time = formatMinute(one.deadSince + mode.grace, now);
  const when = mode.isDryRun ? `with --yes after ${time}` : `by a run after ${time}`;
  // It may be started again.
  if (one.conclusion.liveness === "alive") return `${dead} by the list; released ${when}`;
  return `${dead}; released ${when}, or now with ${mode.isDryRun ? "--yes " : ""}--now`;
}

/** The JSON form, see the command's description. */
export function collectionDocument(collections: readonly Collection[], mode: Mode): object {
  return {
    dryRun: mode.isDryRun,
    networks: collections.map(({ directory: { files }, decided, released, refused }) => ({
      network: files.network,
      directory: files.directory,
      refused: refused ?? null,
      reservations: decided.length,
      ...countsOf(decided),
      released: released.size,
    })),
    dead: collections.flatMap((collection) =>
      collection.decided.flatMap((one) => {
        const { deadSince, reservation, isBeforeBoot } = one;
        if (deadSince === undefined) return [];
        const state = stateOf(collection, one, mode);
        return [
          {
            ...describe(reservation),
            since: reservation.since === undefined ? null : timeText(reservation.since),
            beforeBoot: isBeforeBoot,
            seenDeadSince: timeText(deadSince),
            state,
            releasableAfter: state === "waiting" ? timeText(deadSince + mode.grace) : null,
          },
        ];
      }),
    ),
    undecided: collections.flatMap(({ decided }) =>
      decided.flatMap(({ decision, reservation, conclusion: { reason } }) =>
        decision === "inUse" || decision === "unknown"
          ? [{ ...describe(reservation), state: decision, reason }]
          : [],
      ),
    ),
  };
}

function describe({ network, text, owner, path }: NodeReservation): object {
  return {
    network: network.files.network,
    address: text,
    container: containerOf(owner),
    interface: interfaceOf(owner),
    path,
  };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}

/** The next full minute, such as `14:47 UTC`; with the date if that is not the one of `now`. */
function formatMinute(time: number, now: number): string {
  const minute = timeText(Math.ceil(time / MINUTE) * MINUTE);
  const [date = "", clock = ""] = minute.split("T");
  const isToday = timeText(now).startsWith(date);
  return `${isToday ? "" : `${date} `}${clock.slice(0, 5)} UTC`;
}

const MINUTE = 60_000;

function stateOf(
  { released }: Collection,
  { decision, reservation }: DecidedReservation,
  { isDryRun }: Mode,
): State {
  if (released.has(reservation)) return "released";
  if (decision === "waiting") return "waiting";
  return isDryRun ? "due" : "kept";
}

function countsOf(decided: readonly Decided[]): Readonly<Record<Decision, number>> {
  const counts = { alive: 0, unknown: 0, unowned: 0, young: 0, inUse: 0, waiting: 0, due: 0 };
  for (const { decision } of decided) counts[decision]++;
  return counts;
}
