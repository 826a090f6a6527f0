/** Opening a file for one use. */

import fs from "node:fs";
import { quietly, systemCall } from "./system-call.ts";

/**
 * Opens a file for `use`, without blocking on a FIFO, and closes it: an error of that changes nothing about what was read
 * or written.
 *
 * @param flags those of open(2)
 * @param mode of a new file
 * @throws SystemError
 */
export function withFile<T>(
  path: string,
  flags: number,
  use: (file: number) => T,
  mode?: number,
): T {
  const open = (): number => fs.openSync(path, flags | fs.constants.O_NONBLOCK, mode);
  const file = systemCall("open", path, open);
  try {
    return use(file);
  } finally {
    quietly(() => fs.closeSync(file));
  }
}
