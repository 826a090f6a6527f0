/** Whether reservations could be made at all. */

import { isSystemError, type System } from "../system/system.ts";
import { type Location, parentOf } from "./location.ts";

/**
 * Throws where no file can be created in the network's directory or, while that is missing, in the nearest directory
 * above it that exists. Creates nothing.
 *
 * @throws SystemError
 */
export function requireWritableStore(system: System, { directory }: Location): void {
  for (let path = directory; ; path = parentOf(path)) {
    try {
      system.requireWritable(path);
      return;
    } catch (error) {
      if (!isSystemError(error, "ENOENT") || path === parentOf(path)) throw error;
    }
  }
}
