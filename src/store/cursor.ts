/** The cursor of a range set: the address handed out last. */

import { logTime } from "../cni/log-time.ts";
import { trimSpace } from "../cni/unicode.ts";
import { type Address, formatAddress, parseAddress } from "../ipam/address.ts";
import { isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";
import { withTemporary } from "./temporary.ts";

const LARGEST_CURSOR = 4096;

/**
 * Reads the cursor of the range set with this index. Anything but an address counts as none; a file that cannot be
 * read is reported, as the reference does on standard error, and counts as none, too.
 *
 * @param warn is told a line
 */
export function readCursor(
  system: System,
  location: Location,
  index: number,
  warn: (line: string) => void,
): Address | undefined {
  try {
    return parseAddress(readCursorText(system, location, index));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code !== "ENOENT") {
      warn(`${logTime(system.now())} Error retrieving last reserved ip: ${error.message}\n`);
    }
    return undefined;
  }
}

/**
 * What the cursor's file says, without white space around it.
 *
 * @throws SystemError
 */
export function readCursorText(system: System, location: Location, index: number): string {
  return trimSpace(system.readFile(cursorPath(location, index), LARGEST_CURSOR));
}

/** The index in the name of a cursor's file; `undefined` where the name is of something else. */
export function cursorIndex(name: string): number | undefined {
  const digits = /^last_reserved_ip\.(0|[1-9][0-9]{0,8})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Moves the cursor. In place, for a new file would cost more than all the rest of a call; a call that is killed here
 * leaves the old cursor, or the new one with line ends behind it, which reading passes over.
 *
 * @throws SystemError
 */
export function writeCursor(
  system: System,
  location: Location,
  index: number,
  address: Address,
): void {
  const path = cursorPath(location, index);
  const content = formatAddress(address);
  try {
    system.overwriteFile(path, content);
  } catch (error) {
    // There is none yet, or a link, which is replaced and not followed.
    if (!isSystemError(error, "ENOENT", "ELOOP")) throw error;
    withTemporary(system, location, content, (temporary) => system.rename(temporary, path));
  }
}

/**
 * Removes the cursor of the range set with this index: the next ADD begins at the first address.
 *
 * @throws SystemError
 */
export function removeCursor(system: System, location: Location, index: number): void {
  system.unlink(cursorPath(location, index));
}

export function cursorPath(location: Location, index: number): string {
  return join(location.directory, `last_reserved_ip.${index}`);
}
