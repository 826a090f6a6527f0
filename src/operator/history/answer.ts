/** The answer of `history`, as text and as JSON. */

import { inOneLine } from "../../cli/output/escape.ts";
import { plural } from "../../cli/output/plural.ts";
import { formatId } from "../../cli/output/terminal.ts";
import type { HistoryRecord } from "../../store/history/history-record.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import type { End, Holding } from "./holding.ts";
import { timeText } from "./time.ts";

/** What is known in one network; times in milliseconds since the epoch. */
export interface Answer {
  readonly network: string;
  /** When its history begins; `undefined` if it has none. */
  readonly begin: number | undefined;
  readonly clockSetBack: number | undefined;
  /** Those of the operand. */
  readonly all: readonly Holding[];
  /** Those among them that were asked for. */
  readonly holdings: readonly Holding[];
}

/**
 * A line for each holding, and from when on the history knows.
 *
 * @param operand what was asked for
 * @param command shows it at all times
 */
export function formatAnswers(
  system: OperatorSystem,
  answers: readonly Answer[],
  operand: string,
  command: string,
): string {
  const found = answers.filter(({ holdings }) => holdings.length > 0);
  const others = answers.reduce((sum, { all }) => sum + all.length, 0);
  const nothing =
    others === 0
      ? `Nothing is known of ${operand}.`
      : `Nothing is known of ${operand} at this time; ${plural(others, "line")} about other times: ${command}`;
  const lines = [
    ...found.flatMap(({ network, holdings }) =>
      holdings.map((holding) => formatHolding(system, network, holding)),
    ),
    ...(found.length === 0 ? [nothing] : []),
    ...(found.length === 0 ? answers : found).map(formatBegin),
  ];
  return lines.map((line) => `${inOneLine(line)}\n`).join("");
}

function formatHolding(system: OperatorSystem, network: string, holding: Holding): string {
  const { address, container, interfaceName, pod, end } = holding;
  const attachment = `container ${formatId(system, container)} ${interfaceName}`.trimEnd();
  const holder = pod === "" ? attachment : `${pod} (${attachment})`;
  return `${address} of ${network}: ${holder}, ${formatBeginning(holding)}${formatEnd(end)}`;
}

function formatBeginning({ from, fromAfter, source }: Holding): string {
  if (from !== undefined) {
    return `from ${timeText(from)}${source === "reservation" ? " by the time of its file" : ""}`;
  }
  return `from an unknown time${fromAfter === undefined ? "" : ` after ${timeText(fromAfter)}`}`;
}

function formatEnd(end: End): string {
  switch (end.kind) {
    case "held":
      return " until now";
    case "unknown":
      return ` until an unknown time before ${timeText(end.before)}`;
    case "released":
      return ` until ${timeText(end.record.time)}, ${formatRelease(end.record)}`;
  }
}

function formatRelease({ verb, caller }: HistoryRecord): string {
  const by = caller === "" ? "" : ` (${caller})`;
  switch (verb) {
    case "UNDO":
      return `released since the result of its ADD could not be delivered${by}`;
    case "RECLAIM":
      return `taken over by an ADD${by}`;
    case "ADD":
    case "DEL":
    case "GC":
      return `released by ${verb}${by}`;
    case "release":
    case "gc":
    case "check":
      return `released by: ${caller}`;
  }
}

function formatBegin({ network, begin, clockSetBack }: Answer): string {
  if (begin === undefined) {
    return `${network} has no history; "history": true in its ipam configuration starts one.`;
  }
  const clock =
    clockSetBack === undefined ? "" : ` The clock was set back to ${timeText(clockSetBack)} then.`;
  return `The history of ${network} begins at ${timeText(begin)}.${clock}`;
}

/** The JSON form. */
export function answersDocument(answers: readonly Answer[]): object {
  return {
    holdings: answers.flatMap(({ network, holdings }) =>
      holdings.map((holding) => describe(network, holding)),
    ),
    networks: answers.map(({ network, begin, clockSetBack }) => ({
      network,
      begins: timeOrNull(begin),
      clockSetBack: timeOrNull(clockSetBack),
    })),
  };
}

function describe(network: string, holding: Holding): object {
  const { address, container, interfaceName, pod, source, reservedBy, end } = holding;
  const release = end.kind === "released" ? end.record : undefined;
  return {
    network,
    address,
    container,
    interface: interfaceName,
    pod,
    held: end.kind === "held",
    from: timeOrNull(holding.from),
    fromAfter: timeOrNull(holding.fromAfter),
    source,
    reservedBy,
    until: timeOrNull(release?.time),
    untilBefore: end.kind === "unknown" ? timeText(end.before) : null,
    releasedWith: release?.verb ?? "",
    releasedBy: release?.caller ?? "",
  };
}

function timeOrNull(time: number | undefined): string | null {
  return time === undefined ? null : timeText(time);
}
