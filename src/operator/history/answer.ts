/** The answer of `history`, as text and as JSON. */

import { inOneLine } from "../../cli/output/escape.ts";
import { plural } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatId, tableWidth } from "../../cli/output/terminal.ts";
import type { HistoryRecord } from "../../store/history/history-record.ts";
import { containerOf, describeOwner, interfaceOf } from "../../store/reservations/owner.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import type { NodeReservation } from "../held/network-directory.ts";
import { timeText } from "./time.ts";

/** A reservation as it is now. */
export interface Holder {
  readonly reservation: NodeReservation;
  /** `namespace/name`; empty if it is not known. */
  readonly pod: string;
}

/** What is known in one network. */
export interface Answer {
  readonly network: string;
  /** The time of the first line of its history, in milliseconds since the epoch; `undefined` if it has none. */
  readonly begin: number | undefined;
  /** The lines about the operand, in the order of the history. */
  readonly all: readonly HistoryRecord[];
  /** The lines of the time that was asked for. */
  readonly events: readonly HistoryRecord[];
  /** What is reserved now. */
  readonly holders: readonly Holder[];
}

/**
 * A table of the events, from when on the histories know, and who holds an address now.
 *
 * @param operand what was asked for; `undefined` if it was all
 * @param command shows it at all times
 */
export function formatAnswers(
  system: OperatorSystem,
  answers: readonly Answer[],
  operand: string | undefined,
  command: string,
): string {
  const found = answers.filter(({ events, holders }) => events.length + holders.length > 0);
  const others = answers.reduce((sum, { all }) => sum + all.length, 0);
  const of = operand === undefined ? "" : ` of ${operand}`;
  const nothing =
    others === 0
      ? `No event${of} is known.`
      : `No event${of} is known at this time; ${plural(others, "event")} at other times: ${command}`;
  const holders = answers.flatMap((answer) =>
    answer.holders.map((holder) => formatHolder(system, answer.network, holder)),
  );
  const hasEvents = answers.some(({ events }) => events.length > 0);
  const lines = [
    ...(hasEvents ? [] : [nothing]),
    ...(found.length === 0 ? answers : found).map(formatBegin),
    ...(holders.length === 0 && operand !== undefined
      ? [`No reservation of ${operand} is known now.`]
      : holders),
  ];
  const table = hasEvents ? `${formatEvents(system, answers)}\n` : "";
  return `${table}${lines.map((line) => `${inOneLine(line)}\n`).join("")}`;
}

function formatEvents(system: OperatorSystem, answers: readonly Answer[]): string {
  const isOne = answers.filter(({ events }) => events.length > 0).length === 1;
  return formatTable(
    columns(
      ...["TIME", "EVENT", isOne ? "?NETWORK" : "NETWORK"],
      ...["ADDRESS", "CONTAINER", "?INTERFACE", "POD"],
    ),
    answers.flatMap(({ network, events }) =>
      events.map(({ time, verb, address, container, interfaceName, pod }) => [
        ...[timeText(time), verb, network, address],
        ...[formatId(system, container) || "-", interfaceName || "-", pod || "-"],
      ]),
    ),
    { width: tableWidth(system) },
  );
}

function formatHolder(
  system: OperatorSystem,
  network: string,
  { reservation: { text, owner, since }, pod }: Holder,
): string {
  const container = containerOf(owner);
  const attachment = `container ${formatId(system, container)} ${interfaceOf(owner)}`.trimEnd();
  const holder = pod === "" ? attachment : `${pod} (${attachment})`;
  const held = container === "" ? describeOwner(owner) : `held by ${holder}`;
  const time = since === undefined ? "" : ` since ${timeText(since)}`;
  return `${text} of ${network} is ${held}${time}.`;
}

function formatBegin({ network, begin }: Answer): string {
  return begin === undefined
    ? `${network} has no history; "history": true in its ipam configuration starts one.`
    : `The history of ${network} begins at ${timeText(begin)}.`;
}

/** The JSON form. */
export function answersDocument(answers: readonly Answer[]): object {
  return {
    events: answers.flatMap(({ network, events }) =>
      events.map(({ time, verb, address, container, interfaceName, pod }) => ({
        network,
        time: timeText(time),
        verb,
        address,
        container,
        interface: interfaceName,
        pod,
      })),
    ),
    holders: answers.flatMap(({ network, holders }) =>
      holders.map(({ reservation: { text, owner, since }, pod }) => ({
        network,
        address: text,
        container: containerOf(owner),
        interface: interfaceOf(owner),
        pod,
        since: since === undefined ? null : timeText(since),
      })),
    ),
    networks: answers.map(({ network, begin }) => ({
      network,
      begins: begin === undefined ? null : timeText(begin),
    })),
  };
}
