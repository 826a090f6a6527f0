/** Events of the history and of the calls that failed, in one order. */

import type { CallRecord, ReturnedAddress } from "../../store/failed-calls/failed-call.ts";
import type { HistoryRecord } from "../../store/history/history-record.ts";

/** What happened to an address, or a call that failed or gave its address back at once; a text is empty where it is not known. */
export interface HistoryEvent {
  /** When it happened, in milliseconds since the epoch, by the clock as it was then. */
  readonly time: number;
  readonly network: string;
  readonly verb: string;
  readonly kind: "reserved" | "released" | CallRecord["kind"];
  /** Empty for a call that failed or gave its address back. */
  readonly address: string;
  readonly container: string;
  readonly interfaceName: string;
  readonly pod: string;
  /** The code that the runtime received, of a call that failed. */
  readonly code: number | null;
  /** What the runtime received, or how long the address was reserved. */
  readonly message: string;
  readonly details: string;
}

const NOTHING = { address: "", code: null, message: "", details: "" } as const;

/** Whether an event is of a call that failed, or gave its address back at once. */
export function isFailure({ kind }: HistoryEvent): boolean {
  return kind === "failed" || kind === "returned";
}

/** A line of a network's history. */
export function eventOfRecord(network: string, record: HistoryRecord): HistoryEvent {
  const kind = record.verb === "ADD" ? "reserved" : "released";
  return { ...NOTHING, ...record, network, kind };
}

/** A call that was kept. */
export function eventOfCall(call: CallRecord): HistoryEvent {
  const { time, network, verb, kind, container, interfaceName, pod } = call;
  const outcome =
    call.kind === "failed"
      ? { code: call.code, message: call.message, details: call.details }
      : { message: givenBack(call) };
  return { ...NOTHING, ...outcome, time, network, verb, kind, container, interfaceName, pod };
}

function givenBack({ after }: ReturnedAddress): string {
  return `given back ${after} ms after its ADD: a plugin that comes after this one may fail`;
}

/** The events of several files by their times; those of one stay in its order, whatever the clock was set to. */
export function inOrder(files: readonly (readonly HistoryEvent[])[]): readonly HistoryEvent[] {
  const timed = files.flatMap((events) => {
    let latest = 0;
    return events.map((event) => {
      latest = Math.max(latest, event.time);
      return { event, latest };
    });
  });
  return timed.sort((a, b) => a.latest - b.latest).map(({ event }) => event);
}
