/** The table that `capacity` prints. */

import { formatAddressRange } from "../../ipam/address.ts";
import { plural } from "../output/plural.ts";
import { columns, formatTable } from "../output/table.ts";
import type { Paint } from "../output/terminal.ts";
import {
  type Counts,
  fullSets,
  NEARLY_FULL,
  permille,
  type RangeCounts,
} from "./capacity-count.ts";

/** The counts of a network. */
export interface NetworkCounts {
  readonly network: string;
  readonly ranges: readonly RangeCounts[];
  /** Reservations outside all ranges; all of them if no ranges are known. */
  readonly outside: { readonly used: number; readonly suspects: number };
  readonly pods: bigint | undefined;
}

const headings = columns(
  ...["NETWORK", "SET", "RANGE"],
  ...[">SIZE", ">RESERVED", ">USED", ">SUSPECTS", ">FREE", ">USED%"],
);

/** The table, followed by the number of pods and the full range sets. */
export function capacityTable(
  networks: readonly NetworkCounts[],
  total: Counts,
  paint: Paint,
): string {
  const rows = networks.flatMap((one) => [
    ...one.ranges.map((range) => [
      one.network,
      `${range.set}`,
      formatAddressRange(range.range),
      ...cellsOf(range, paint),
    ]),
    ...outsideRow(one),
  ]);
  if (rows.length > 1) rows.push(["total", "", "", ...cellsOf(total, paint)]);
  const notes = networks.flatMap((one) => notesOn(one, paint));
  const table = formatTable(headings, rows);
  return notes.length === 0 ? table : `${table}\n${notes.join("\n")}\n`;
}

function cellsOf(counts: Counts, paint: Paint): readonly string[] {
  const { size, reserved, used, suspects, free } = counts;
  const tenths = permille(counts);
  const share = tenths === undefined ? "-" : `${(tenths / 10).toFixed(1)}%`;
  return [
    `${size}`,
    `${reserved}`,
    `${used}`,
    suspects > 0n ? paint(`${suspects}`, "warning") : "0",
    free === 0n ? paint("0", "error") : `${free}`,
    (tenths ?? 0) >= NEARLY_FULL ? paint(share, free === 0n ? "error" : "warning") : share,
  ];
}

function outsideRow({ network, ranges, outside }: NetworkCounts): readonly string[][] {
  if (ranges.length > 0 && outside.used === 0) return [];
  const label = ranges.length > 0 ? "outside" : "unknown";
  return [[network, "-", label, "-", "-", `${outside.used}`, `${outside.suspects}`, "-", "-"]];
}

function notesOn({ network, ranges, pods }: NetworkCounts, paint: Paint): readonly string[] {
  if (pods === undefined) return [];
  const full = fullSets(ranges).map((set) =>
    paint(
      `${network}: range set ${set} has no free address: the next pod fails. To find addresses of dead containers, run host-local gc ${network}`,
      "error",
    ),
  );
  return [`${network} holds ${plural(pods, "pod")}.`, ...full];
}
