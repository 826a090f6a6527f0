/** Events of the history and of the calls that failed, in one order. */

import type { CallRecord } from "../../store/failed-calls/failed-call.ts";
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
  /** What the runtime received, of a call that failed. */
  readonly code: number | null;
  readonly message: string;
  readonly details: string;
  /** How long an address was reserved that was given back at once. */
  readonly milliseconds: number | null;
}

const NOTHING = { address: "", code: null, message: "", details: "", milliseconds: null } as const;

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
      : { milliseconds: call.after };
  return { ...NOTHING, ...outcome, time, network, verb, kind, container, interfaceName, pod };
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
