/** The report of `gc`. */

import type { Context } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { logLine } from "../../cli/output/escape.ts";
import { plural } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatId, tableWidth } from "../../cli/output/terminal.ts";
import { formatMinute, timeText } from "../../cli/output/time.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import { requestedConfigurationDirectory } from "../configured/configuration-directories.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { shellCommand } from "../next-command.ts";
import type { Node } from "../node.ts";
import { describeReservation } from "../reservations/describe-reservation.ts";
import type { CollectionRecord } from "./collection-file.ts";
import type { DecidedReservation, Decision } from "./decision.ts";

/** The directory of a network with the decisions on its reservations. */
export interface Collection {
  readonly directory: NetworkDirectory;
  readonly decided: readonly DecidedReservation[];
  /** Why the list is not believed there. */
  readonly refused: string | undefined;
  /** What earlier runs have left. */
  readonly before: CollectionRecord;
}

/**
 * A table of the reservations that are dead, the counts, and the command that releases these.
 *
 * @param grace the grace period, in milliseconds
 */
export function formatCollection(
  context: Context,
  collections: readonly Collection[],
  grace: number,
): string {
  const { system, has } = context;
  const now = system.now();
  const all = collections.flatMap(({ decided }) => decided);
  const rows = all.flatMap((decided) => {
    const state = stateTextOf(decided, has("--yes"), grace, now);
    if (state === undefined) return [];
    const { network, text, owner } = decided.reservation;
    const id = formatId(system, containerOf(owner));
    return [[network.files.network, text, id, interfaceOf(owner) || "-", state]];
  });
  const table = formatTable(
    columns("NETWORK", "ADDRESS", "CONTAINER", "?INTERFACE", "STATE"),
    rows,
    { width: tableWidth(system) },
  );
  const shown = rows.length === 0 ? "" : `${table}\n`;
  return `${shown}${formatCounts(all, grace, now)}\n${formatNext(context, all, grace, now)}`;
}

/** What was released, a line for each reservation, in the form of the agent's log. */
export function formatReleases(collections: readonly Collection[]): string {
  return collections
    .flatMap(({ decided }) => decided.filter(({ decision }) => decision === "released"))
    .map(({ reservation: { network, text, owner } }) => {
      const holder = `held by ${containerOf(owner)}`;
      return logLine(`gc: released ${text} of ${network.files.network}, ${holder}`);
    })
    .join("");
}

/** `undefined` for a reservation that is not in the table. */
function stateTextOf(
  { decision, deadSince }: DecidedReservation,
  isRun: boolean,
  grace: number,
  now: number,
): string | undefined {
  if (deadSince === undefined) return undefined;
  if (decision === "released") return "released";
  if (decision === "waiting") {
    return `dead; released after ${formatMinute(deadSince + grace, now)}, or with --now`;
  }
  return isRun
    ? "kept; changed in the meantime, or could not be released"
    : "dead; released with --yes";
}

/** How many there are of each kind of which there are any. */
function formatCounts(all: readonly DecidedReservation[], grace: number, now: number): string {
  const { alive, young, unknown, unowned, waiting, due, released } = countsOf(all);
  const until = endOfGrace(all, "young", grace, now);
  const counts = [
    [alive, "alive"],
    [young, `younger than ${formatDuration(grace)} (not judged until ${until})`],
    [unknown, "undecided"],
    [unowned, "without a container"],
    [waiting + due + released, "dead"],
  ] as const;
  const shown = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const details = shown.length === 0 ? "" : `: ${shown.join(", ")}`;
  return `${plural(all.length, "reservation")}${details}${released > 0 ? `; ${released} released` : ""}`;
}

/** The command that releases what is dead, and when a second run does that without `--now`. */
function formatNext(
  context: Context,
  all: readonly DecidedReservation[],
  grace: number,
  now: number,
): string {
  if (all.some(({ decision }) => decision === "waiting")) {
    const time = endOfGrace(all, "waiting", grace, now);
    const command = commandWith(context, "--now", "--yes");
    return `To release now: ${command}\nWithout --now, a run with --yes after ${time} releases them\n`;
  }
  const isAnyDue = !context.has("--yes") && all.some(({ decision }) => decision === "due");
  return isAnyDue ? `To release: ${commandWith(context, "--yes")}\n` : "";
}

/** The command line of this run with these options, and with what it took from the environment. */
function commandWith(context: Context, ...options: readonly string[]): string {
  const confDir = requestedConfigurationDirectory(context);
  const isGiven = confDir === undefined || context.option("--conf-dir") !== undefined;
  const [, ...words] = context.system.arguments;
  return shellCommand([
    ...["host-local", "gc", ...options.filter((option) => !context.has(option))],
    ...(isGiven ? [] : ["--conf-dir", confDir]),
    ...words,
  ]);
}

/** The JSON form of what `gc` found. */
export function collectionDocument(
  node: Node,
  collections: readonly Collection[],
  grace: number,
): object {
  const all = collections.flatMap(({ decided }) => decided);
  return {
    dryRun: !node.context.has("--yes"),
    networks: collections.map(({ directory: { files }, decided, refused }) => ({
      network: files.network,
      directory: files.directory,
      refused: refused ?? null,
      ...countsOf(decided),
    })),
    dead: all.flatMap((decided) => {
      const { decision, deadSince } = decided;
      if (deadSince === undefined) return [];
      return {
        ...describeReservation(node, decided),
        state: decision,
        seenDeadSince: timeText(deadSince),
        releasableAfter: decision === "waiting" ? timeText(deadSince + grace) : null,
      };
    }),
    undecided: all
      .filter(({ decision }) => decision === "unknown")
      .map((decided) => describeReservation(node, decided)),
  };
}

/** How many there are of each decision. */
function countsOf(decided: readonly DecidedReservation[]): Readonly<Record<Decision, number>> {
  const counts = { alive: 0, unknown: 0, unowned: 0, young: 0, waiting: 0, due: 0, released: 0 };
  for (const { decision } of decided) counts[decision]++;
  return counts;
}

/** When the grace period of the last of those that wait for its end is over. */
function endOfGrace(
  all: readonly DecidedReservation[],
  decision: "young" | "waiting",
  grace: number,
  now: number,
): string {
  const last = all
    .filter((decided) => decided.decision === decision)
    .reduce((time, { deadSince, reservation }) => {
      return Math.max(time, deadSince ?? reservation.since ?? now);
    }, 0);
  return formatMinute(last + grace, now);
}
