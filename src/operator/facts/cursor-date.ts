/** When ADDs last moved the cursors of a network, whichever `host-local` that was: nothing else moves one. */

import { attempt, type System } from "../../system/system.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";

const CURSOR = /^last_reserved_ip\.([0-9]+)$/;

/** Reads the dates of the cursors that are seen, in milliseconds since the epoch, by the index of the range set. */
export function readCursorDates(
  { listAddresses, status }: Pick<System, "listAddresses" | "status">,
  { files }: Pick<NetworkDirectory, "files">,
): ReadonlyMap<number, number> {
  const dates = new Map<number, number>();
  for (const name of attempt(() => listAddresses(files.directory).others, [])) {
    const [, index] = CURSOR.exec(name) ?? [];
    const modified = index && attempt(() => status(files.pathOf(name)).modified, undefined);
    if (modified) dates.set(Number(index), Number(modified / 1_000_000n));
  }
  return dates;
}
