/** The answer of `history`, as text and as JSON. */

import { inOneLine } from "../../cli/output/escape.ts";
import { plural } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatId, tableWidth } from "../../cli/output/terminal.ts";
import type { CallRecord } from "../../store/failed-calls/failed-call.ts";
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

/** What happened to an address. */
interface AddressEvent extends HistoryRecord {
  readonly network: string;
}

/** What happened to an address, or a call that failed or gave its address back at once. */
export type HistoryEvent = AddressEvent | CallRecord;

/** Whether an event is of a call that failed, or gave its address back at once. */
export function isFailure(event: HistoryEvent): event is CallRecord {
  return "kind" in event;
}

/** The beginning of a network's history, in milliseconds since the epoch. */
export type Beginning =
  | { readonly kind: "at"; readonly time: number }
  /** The configuration asks for a history, in which nothing is yet. */
  | { readonly kind: "empty" }
  | { readonly kind: "none" };

/** What is known in one network. */
export interface Answer {
  readonly network: string;
  /** `undefined` where no network is known by that name. */
  readonly beginning: Beginning | undefined;
  /** The events about the operand: in the order of the history, and with what failed at its time. */
  readonly all: readonly HistoryEvent[];
  /** The events of the time that was asked for. */
  readonly events: readonly HistoryEvent[];
  /** What is reserved now. */
  readonly holders: readonly Holder[];
}

/** What was asked for. */
export interface Asked {
  /** `undefined` for all. */
  readonly operand: string | undefined;
  /** Whether only what failed is. */
  readonly isOfFailures: boolean;
  /** The command that shows it at all times. */
  readonly command: string;
}

/** A table of the events, from when on the histories know, and who holds an address now. */
export function formatAnswers(
  system: OperatorSystem,
  answers: readonly Answer[],
  { operand, isOfFailures, command }: Asked,
): string {
  const found = answers.filter(({ events, holders }) => events.length + holders.length > 0);
  const others = answers.reduce((sum, { all }) => sum + all.length, 0);
  const of = operand === undefined ? "" : ` of ${operand}`;
  const what = isOfFailures ? "failure" : "event";
  const nothing =
    others === 0
      ? `No ${what}${of} is known.`
      : `No ${what}${of} is known at this time; ${plural(others, what)} at other times: ${command}`;
  const holders = answers.flatMap((answer) =>
    answer.holders.map((holder) => formatHolder(system, answer.network, holder)),
  );
  const hasEvents = answers.some(({ events }) => events.length > 0);
  const present =
    holders.length === 0 && operand !== undefined
      ? [`No reservation of ${operand} is known now.`]
      : holders;
  const lines = [
    ...(hasEvents ? [] : [nothing]),
    ...(isOfFailures ? [] : (found.length === 0 ? answers : found).flatMap(formatBeginning)),
    ...(isOfFailures ? [] : present),
  ];
  const table = hasEvents ? formatEvents(system, answers) : "";
  const text = lines.map((line) => `${inOneLine(line)}\n`).join("");
  return table === "" || text === "" ? table + text : `${table}\n${text}`;
}

function formatEvents(system: OperatorSystem, answers: readonly Answer[]): string {
  const all = answers.flatMap(({ events }) => events);
  const isOne = answers.filter(({ events }) => events.length > 0).length === 1;
  const rows = all.map((event) => [
    ...[timeText(event.time), wordOf(event), event.network || "-"],
    ...[isFailure(event) ? "-" : event.address, formatId(system, event.container) || "-"],
    ...[event.interfaceName || "-", event.pod || "-", messageOf(event)],
  ]);
  // Most networks have no failures.
  const hasMessages = all.some(isFailure);
  return formatTable(
    columns(
      ...["TIME", "EVENT", isOne ? "?NETWORK" : "NETWORK"],
      ...["ADDRESS", "CONTAINER", "?INTERFACE", "POD", ...(hasMessages ? ["MESSAGE"] : [])],
    ),
    hasMessages ? rows : rows.map((row) => row.slice(0, -1)),
    { width: tableWidth(system) },
  );
}

function wordOf(event: HistoryEvent): string {
  return isFailure(event) ? `${event.verb} ${event.kind}` : event.verb;
}

/** The words of an event, where its verb does not say all. */
function messageOf(event: HistoryEvent): string {
  if (!isFailure(event)) return "";
  if (event.kind === "returned") {
    return `given back ${event.after} ms after its ADD: a plugin that comes after this one may fail`;
  }
  return event.details === "" ? event.message : `${event.message}; ${event.details}`;
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

function formatBeginning({ network, beginning }: Answer): readonly string[] {
  switch (beginning?.kind) {
    case "at":
      return [`The history of ${network} begins at ${timeText(beginning.time)}.`];
    case "empty":
      return [`The history of ${network} is empty.`];
    case "none":
      return [`${network} has no history; "history": true in its ipam configuration starts one.`];
    case undefined:
      return [];
  }
}

/** The JSON form. */
export function answersDocument(answers: readonly Answer[]): object {
  return {
    events: answers.flatMap(({ events }) => events.map(eventDocument)),
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
    networks: answers.flatMap(({ network, beginning }) =>
      beginning === undefined
        ? []
        : { network, begins: beginning.kind === "at" ? timeText(beginning.time) : null },
    ),
  };
}

function eventDocument(event: HistoryEvent): object {
  const { network, time, verb, container, interfaceName, pod } = event;
  const failed = isFailure(event) && event.kind === "failed" ? event : undefined;
  const returned = isFailure(event) && event.kind === "returned" ? event : undefined;
  return {
    ...{ network, time: timeText(time), verb, kind: kindOf(event) },
    address: isFailure(event) ? "" : event.address,
    ...{ container, interface: interfaceName, pod },
    code: failed?.code ?? null,
    message: failed?.message ?? "",
    details: failed?.details ?? "",
    milliseconds: returned?.after ?? null,
  };
}

function kindOf(event: HistoryEvent): string {
  if (isFailure(event)) return event.kind;
  return event.verb === "ADD" ? "reserved" : "released";
}
