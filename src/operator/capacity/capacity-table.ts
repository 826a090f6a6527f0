/** Capacities for people. */

import { formatAddressRange } from "../../ipam/address.ts";
import { columns, formatTable } from "../output/table.ts";
import type { Paint } from "../output/terminal.ts";
import { type Counts, fullSets, permille, type RangeCounts } from "./capacity-count.ts";

/** A network with its ranges counted. */
export interface NetworkCounts {
  readonly network: string;
  readonly ranges: readonly RangeCounts[];
  /** Reservations in no range; all of them where no ranges are known. */
  readonly outside: { readonly used: number; readonly suspects: number };
  readonly pods: bigint | undefined;
}

const headings = columns(
  ...["NETWORK", "SET", "RANGE"],
  ...[">SIZE", ">RESERVED", ">USED", ">SUSPECTS", ">FREE", ">USED%"],
);

/** From this many tenths of a percent on, the share in use is worth a colour. */
const NEARLY_FULL = 900;

/** The table, and in sentences how many pods there can be and what is full. */
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
  const sentences = networks.flatMap((one) => sentencesFor(one, paint));
  const table = formatTable(headings, rows);
  return sentences.length === 0 ? table : `${table}\n${sentences.join("\n")}\n`;
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
  const directory = ranges.length > 0 ? "outside" : "unknown";
  return [[network, "-", directory, "-", "-", `${outside.used}`, `${outside.suspects}`, "-", "-"]];
}

function sentencesFor({ network, ranges, pods }: NetworkCounts, paint: Paint): readonly string[] {
  if (pods === undefined) return [];
  const full = fullSets(ranges).map((set) =>
    paint(
      `${network}: range set ${set} has no free address: a pod more would fail. See which are held by the dead: host-local gc ${network}`,
      "error",
    ),
  );
  return [`${network} holds ${pods} ${pods === 1n ? "pod" : "pods"}.`, ...full];
}
