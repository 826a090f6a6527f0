/** The cursor of a range set: its last reserved address. */

import { logTime } from "../../cni/log-time.ts";
import { trimSpace } from "../../cni/unicode.ts";
import { type Address, formatAddress, parseAddress } from "../../ipam/address.ts";
import { recover } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";

/** No cursor's file is larger, in bytes. */
const LARGEST_CURSOR = 4096;

/**
 * Reads the cursor of the range set with this index. Anything but an address counts as no cursor; so does a
 * file that cannot be read, which is logged as the Go plugin does.
 *
 * @param warn prints a line to standard error
 */
export function readCursor(
  files: NetworkFiles,
  index: number,
  warn: (line: string) => void,
): Address | undefined {
  const read = (): string => files.system.readFile(cursorPath(files, index), LARGEST_CURSOR);
  const text = recover(read, ({ code, message }) => {
    if (code !== "ENOENT") {
      warn(`${logTime(files.system.now())} Error retrieving last reserved ip: ${message}\n`);
    }
    return "";
  });
  return parseAddress(trimSpace(text));
}

/**
 * Moves the cursor. The file is overwritten in place, since a new file would cost more than the rest of the call; a
 * call that is killed here leaves the old cursor, or the new one followed by line ends, which are ignored when it is read.
 *
 * @throws SystemError
 */
export function writeCursor(files: NetworkFiles, index: number, address: Address): void {
  const path = cursorPath(files, index);
  const content = formatAddress(address);
  const replace = (): void =>
    files.withTemporary(content, (temporary) => files.system.rename(temporary, path));
  // It may not exist yet, or be a symbolic link, which is replaced and not followed.
  recover(() => files.system.overwriteFile(path, content), replace, "ENOENT", "ELOOP");
}

/** The path of the cursor of the range set with this index. */
export function cursorPath(files: NetworkFiles, index: number): string {
  return files.pathOf(`last_reserved_ip.${index}`);
}
