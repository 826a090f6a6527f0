/** Which directories the runtimes of a node read: by their own configurations. */

import { isSystemError, type System } from "../../system/system.ts";
import { onceFor } from "../once.ts";
import { readContainerds } from "./containerd.ts";
import { readCrio } from "./crio.ts";
import type { Runtime } from "./runtime.ts";

/**
 * Reads the configurations of containerd and CRI-O, once. Where `$NETCONFPATH` says which directory is read, they are not
 * asked. The command-line options of a runtime are not known.
 *
 * @returns those whose configuration is where it usually is; none if one of them cannot be read, which may say anything
 */
export const readRuntimes = onceFor((system: System): readonly Runtime[] => {
  if (system.environment("NETCONFPATH")) return [];
  try {
    return [...readContainerds(system), ...readCrio(system)];
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return [];
    throw error;
  }
});
