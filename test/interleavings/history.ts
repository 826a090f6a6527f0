/** What the history may tell after one call in trouble: only the truth. */

import { type HistoryRecord, parseRecords } from "../../src/store/history/history-record.ts";
import { DATA_DIRECTORY } from "../harness/memory-machine.ts";
import type { Machine } from "./world.ts";

export const HISTORY = `${DATA_DIRECTORY}/.host-local/net/history`;

/** The lines of both files, the older one first. */
export function recordsIn({ disk }: Pick<Machine, "disk">): readonly HistoryRecord[] {
  return [`${HISTORY}.1`, HISTORY].flatMap((path) =>
    disk.has(path) ? parseRecords(disk.readFile(path, 1e6)) : [],
  );
}

/**
 * Every line that is lost or false, in words; the lines of the call itself may be missing.
 *
 * @param before the lines before the call
 * @param reserved the reservations after it
 */
export function brokenHistory(
  before: readonly HistoryRecord[],
  after: readonly HistoryRecord[],
  reserved: ReadonlyMap<string, string>,
): readonly string[] {
  const lost = before.filter((record, at) => JSON.stringify(record) !== JSON.stringify(after[at]));
  const isFalse = ({ verb, address, container }: HistoryRecord, at: number): boolean => {
    // An ADD that is undone has two lines.
    if (at < before.length || after.findLastIndex((record) => record.address === address) > at) {
      return false;
    }
    const owner = reserved.get(address);
    if (verb === "RECLAIM") return owner !== undefined && !/[^\s\0]/.test(owner);
    return (owner === `${container}\r\neth0`) !== (verb === "ADD");
  };
  return [
    ...lost.map((record) => `the history has lost ${textOf(record)}`),
    ...after.filter(isFalse).map((record) => `the history is false: ${textOf(record)}`),
  ];
}

function textOf({ verb, address, container }: HistoryRecord): string {
  return `${verb} ${address} ${container}`;
}
