/** The table that `capacity` prints. */

import type { Context } from "../../cli/command/command.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { nounFor } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatCount, type Paint, painter, tableWidth } from "../../cli/output/terminal.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { NextAdd } from "../judgements/next-add.ts";
import { formatRange, NEARLY_FULL, permille, type RangeCounts } from "../judgements/usage.ts";
import { commandText } from "../next-command.ts";

/** The counts of a network. */
export interface NetworkCounts {
  readonly network: FoundNetwork;
  readonly ranges: readonly RangeCounts[];
  /** All reservations of its directory. */
  readonly reservations: number;
  readonly pods: bigint | undefined;
  /** What the next ADD comes to. */
  readonly next: NextAdd;
  /**
   * Reservations that ADD takes if no other address is free, which count as free: of dead pods, from before this boot, and empty
   * files; `undefined` where that cannot be read.
   */
  readonly reclaimable: number | undefined;
}

/** The table, followed by the number of pods and the full range sets. */
export function capacityTable(networks: readonly NetworkCounts[], context: Context): string {
  const { system } = context;
  const paint = painter(system);
  const rowOf = (network: string, counts: RangeCounts): readonly string[] => {
    const { set, range, capacity, used, free } = counts;
    const tenths = permille(counts);
    const share = tenths === undefined ? "-" : `${(tenths / 10).toFixed(1)}%`;
    return [
      ...[network, `${set}`, formatRange(range)],
      ...[formatCount(system, capacity), formatCount(system, used)],
      free === 0n ? paint("0", "error") : formatCount(system, free),
      (tenths ?? 0) >= NEARLY_FULL ? paint(share, free === 0n ? "error" : "warning") : share,
    ];
  };
  const rows = networks.flatMap(({ network: { files }, ranges, reservations }) =>
    ranges.length === 0
      ? [[files.network, "-", "unknown", "-", `${reservations}`, "-", "-"]]
      : ranges.map((range) => rowOf(files.network, range)),
  );
  const headings = columns("NETWORK", "SET", "RANGE", ">CAPACITY", ">USED", ">FREE", ">USED%");
  const table = formatTable(headings, rows, { width: tableWidth(system) });
  const notes = networks.flatMap((counts) => notesOn(counts, paint, context));
  return notes.length === 0 ? table : `${table}\n${notes.join("\n")}\n`;
}

function notesOn(
  { network: { files }, next, pods, reclaimable }: NetworkCounts,
  paint: Paint,
  context: Context,
): readonly string[] {
  if (pods === undefined) return [];
  const { network } = files;
  const { system } = context;
  const check = commandText(context, files, ["check", network]);
  const without = next.sets.filter(({ kind }) => kind !== "free");
  const full = without.map(({ index: set, counts: { capacity } }) => {
    // ADD may take an address that a dead pod holds.
    const fails = reclaimable === undefined ? "may fail" : "fails";
    const text =
      capacity === 0n
        ? "has no address for any pod: correct the configuration."
        : `has no free address: the next pod ${fails}. To see why: ${check}`;
    return paint(`${network}: range set ${set} ${text}`, "error");
  });
  const { failure, doubt } = next;
  if (failure !== undefined) {
    full.push(paint(`${network}: every ADD fails: ${inOneLine(failure)}`, "error"));
  } else if (doubt !== undefined) {
    full.push(
      `${network}: only root of the node can tell whether an ADD works: ${inOneLine(doubt)}`,
    );
  }
  const notes = [`${network} holds ${formatCount(system, pods)} ${nounFor(pods, "pod")}.`];
  if (reclaimable === undefined) {
    notes.push(`${network}: which addresses dead pods hold cannot be read: run as root.`);
  } else if (reclaimable > 0) {
    notes.push(
      `${network}: FREE includes ${reclaimable} that ADD takes if no other is free: of dead pods, from before this boot, or of empty files.`,
    );
  }
  return [...notes, ...full];
}
