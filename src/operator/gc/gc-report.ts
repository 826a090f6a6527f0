/** The report of `gc`. */

import type { Context } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { logLine } from "../../cli/output/escape.ts";
import { formatMinute } from "../../cli/output/minute.ts";
import { plural } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatId, tableWidth } from "../../cli/output/terminal.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import { requestedConfigurationDirectory } from "../configured/configuration-directories.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import { shellCommand } from "../next-command.ts";
import type { DecidedReservation, Decision } from "./decision.ts";

/** The directory of a network with the decisions on its reservations. */
export interface Collection {
  readonly directory: NetworkDirectory;
  readonly decided: readonly DecidedReservation[];
  /** Why the list is not believed there. */
  readonly refused: string | undefined;
}

/**
 * A table of the reservations that are dead, and of those that the list lacks although they are alive; the counts; and the
 * command that releases what is dead.
 *
 * @param grace the grace period, in milliseconds
 */
export function formatCollection(
  context: Context,
  collections: readonly Collection[],
  grace: number,
): string {
  const { system } = context;
  const now = system.now();
  const all = collections.flatMap(({ decided }) => decided);
  const rows = all.flatMap((decided) => {
    const state = stateTextOf(decided, grace, now);
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
function stateTextOf(decided: DecidedReservation, grace: number, now: number): string | undefined {
  const { decision, deadSince, conclusion, isBeforeBoot } = decided;
  if (decision === "inUse") return `alive, though not in the list: ${conclusion.reason}`;
  if (deadSince === undefined) return undefined;
  if (decision === "released") return "released";
  if (decision === "kept") return "kept; changed in the meantime, or could not be released";
  const dead = isBeforeBoot ? "dead, from before this boot" : "dead";
  return decision === "due"
    ? `${dead}; released with --yes`
    : `${dead}; released after ${formatMinute(deadSince + grace, now)}, or with --now`;
}

/** How many there are of each kind of which there are any. */
function formatCounts(all: readonly DecidedReservation[], grace: number, now: number): string {
  const { alive, inUse, young, unknown, unowned, waiting, due, released } = countsOf(all);
  const until = endOfGrace(all, "young", grace, now);
  const counts = [
    [alive + inUse, "alive"],
    [young, `younger than ${formatDuration(grace)} (not judged until ${until})`],
    [unknown, "undecided"],
    [unowned, "without a container"],
    [waiting + due, "dead"],
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
  const isAnyDue = all.some(({ decision }) => decision === "due");
  return isAnyDue ? `To release: ${commandWith(context, "--yes")}\n` : "";
}

/** The command line of this run with these options, and with what it took from the environment. */
function commandWith(context: Context, ...options: readonly string[]): string {
  const confDir = requestedConfigurationDirectory(context);
  const isGiven = confDir === undefined || context.option("--conf-dir") !== undefined;
  const [, ...words] = context.system.arguments;
  return shellCommand([
    ...["host-local", "gc", ...options.filter((one) => !context.has(one))],
    ...(isGiven ? [] : ["--conf-dir", confDir]),
    ...words,
  ]);
}

/** The JSON form, see the command's description. */
export function collectionDocument(
  collections: readonly Collection[],
  isDryRun: boolean,
  grace: number,
): object {
  const all = collections.flatMap(({ decided }) => decided);
  return {
    dryRun: isDryRun,
    networks: collections.map(({ directory: { files }, decided, refused }) => ({
      network: files.network,
      directory: files.directory,
      refused: refused ?? null,
      reservations: decided.length,
      ...countsOf(decided),
    })),
    dead: all.flatMap(({ decision, deadSince, reservation, isBeforeBoot }) =>
      deadSince === undefined
        ? []
        : [
            {
              ...describe(reservation),
              since: reservation.since === undefined ? null : timeText(reservation.since),
              beforeBoot: isBeforeBoot,
              seenDeadSince: timeText(deadSince),
              state: decision,
              releasableAfter: decision === "waiting" ? timeText(deadSince + grace) : null,
            },
          ],
    ),
    undecided: all.flatMap(({ decision, reservation, conclusion: { reason } }) =>
      decision === "inUse" || decision === "unknown"
        ? [{ ...describe(reservation), state: decision, reason }]
        : [],
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

/** How many there are of each decision. What was due is counted as that, whatever became of it. */
function countsOf(
  decided: readonly DecidedReservation[],
): Readonly<Record<Exclude<Decision, "kept">, number>> {
  const living = { alive: 0, unknown: 0, unowned: 0, young: 0, inUse: 0 };
  const counts = { ...living, waiting: 0, due: 0, released: 0, kept: 0 };
  for (const { decision } of decided) counts[decision]++;
  const { kept, ...shown } = counts;
  return { ...shown, due: counts.due + counts.released + kept };
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
