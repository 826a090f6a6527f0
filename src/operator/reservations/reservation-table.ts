/** The table of reservations that `list` and `release` print. */

import { formatDuration } from "../../cli/command/duration.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatId, painter, tableWidth } from "../../cli/output/terminal.ts";
import { type Conclusion, formatLiveness } from "../../store/life/conclusion.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import type { Node } from "../node.ts";

/** A row for each reservation. The column ALIVE is there where it is known of any. */
export function reservationTable(
  { context: { system }, cache }: Node,
  known: readonly KnownReservation[],
  isHeadless = false,
): string {
  const paint = painter(system);
  const now = system.now();
  const isAliveShown = known.some(({ conclusion }) => conclusion.liveness !== "unknown");
  const formatLife = ({ liveness }: Conclusion): string =>
    liveness === "dead" ? paint("no", "warning") : formatLiveness(liveness);
  const isOne = new Set(known.map(({ reservation }) => reservation.network)).size <= 1;
  return formatTable(
    columns(
      ...[isOne ? "?NETWORK" : "NETWORK", "ADDRESS", "CONTAINER", "?INTERFACE", "AGE"],
      ...(isAliveShown ? ["ALIVE"] : []),
      "POD",
    ),
    known.map(({ reservation, conclusion }) => [
      reservation.network.files.network,
      reservation.text,
      // `?` if the file cannot be read.
      reservation.owner.kind === "unknown" ? "?" : formatId(system, containerOf(reservation.owner)),
      interfaceOf(reservation.owner) || "-",
      reservation.since === undefined ? "-" : formatDuration(now - reservation.since),
      ...(isAliveShown ? [formatLife(conclusion)] : []),
      cache.podOf(reservation) || "-",
    ]),
    { width: tableWidth(system), isHeadless },
  );
}
