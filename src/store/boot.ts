/** The running boot of the machine. */

import { isSystemError, type System } from "../system/system.ts";

/** A text that the kernel makes at random at each boot. */
export type BootId = string & { readonly proof: "boot id" };

const PATH = "/proc/sys/kernel/random/boot_id";

/** The id of the running boot; `undefined` where `/proc` is not mounted. See random(4). */
export function bootId(system: System): BootId | undefined {
  try {
    const text = system.readFile(PATH, 64).trimEnd();
    return isBootId(text) ? text : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Whether a text has the form of a boot id, a UUID. */
export function isBootId(text: string): text is BootId {
  return /^[0-9a-f-]{36}$/.test(text);
}
