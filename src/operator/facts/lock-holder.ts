/** Which process holds the lock of a network. */

import type { NetworkFiles } from "../../store/files/network-files.ts";
import { flockTimeout } from "../../system/flock-holder.ts";
import type { System } from "../../system/system.ts";

/** The process that holds it now, such as `process 123 (host-local)`; `undefined` where none is seen. */
export function readLockHolder(
  system: Pick<System, "status" | "readFile">,
  { lockFile }: Pick<NetworkFiles, "lockFile">,
): string | undefined {
  return flockTimeout(system, lockFile).holder;
}
