/** Closing files whose content is settled. */

import fs from "node:fs";
import { errnoOf } from "./system-call.ts";

/** Closes a file; an error changes nothing about what was read, overwritten or locked. */
export function closeQuietly(file: number): void {
  try {
    fs.closeSync(file);
  } catch (error) {
    errnoOf(error);
  }
}
