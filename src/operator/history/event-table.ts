/** Events as a table and as JSON. */

import { columns, formatTable } from "../../cli/output/table.ts";
import { formatId, tableWidth } from "../../cli/output/terminal.ts";
import { timeText } from "../../cli/output/time.ts";
import { withDetails } from "../../cni/error.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { type HistoryEvent, isFailure } from "./event.ts";

/** A line for each event. */
export function eventTable(system: OperatorSystem, events: readonly HistoryEvent[]): string {
  const isOne = new Set(events.map(({ network }) => network)).size === 1;
  // Most networks have no failures.
  const hasMessages = events.some(isFailure);
  return formatTable(
    columns(
      ...["TIME", "EVENT", isOne ? "?NETWORK" : "NETWORK"],
      ...["ADDRESS", "CONTAINER", "?INTERFACE", "POD", ...(hasMessages ? ["MESSAGE"] : [])],
    ),
    events.map((event) => [
      timeText(event.time),
      isFailure(event) ? `${event.verb} ${event.kind}` : event.verb,
      ...[event.network, event.address, formatId(system, event.container)].map(orDash),
      ...[event.interfaceName, event.pod].map(orDash),
      ...(hasMessages ? [withDetails(event)] : []),
    ]),
    { width: tableWidth(system) },
  );
}

function orDash(text: string): string {
  return text || "-";
}

/** The JSON form of an event. */
export function describeEvent({ time, interfaceName, ...others }: HistoryEvent): object {
  return { time: timeText(time), interface: interfaceName, ...others };
}
