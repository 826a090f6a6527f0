/** Which directories the runtimes of a node read: by their own configurations. */

import { isSystemError, type System } from "../../system/system.ts";
import { readContainerds } from "./containerd.ts";
import { readCrio } from "./crio.ts";
import type { Runtime } from "./runtime.ts";

/** What the configurations of a node's runtimes say. */
export type Runtimes =
  /** What all say whose configuration is where it usually is; where there is none, nothing is known. */
  | { readonly kind: "seen"; readonly runtimes: readonly Runtime[] }
  /** A configuration is there that cannot be read. */
  | { readonly kind: "unseen"; readonly reason: string };

/** What each process has read. */
const read = new WeakMap<System, Runtimes>();

/**
 * Reads the configurations of containerd and CRI-O, once. Where `$NETCONFPATH` says which directory is read, they are not asked. What
 * the options in the command line of a runtime say is not known.
 */
export function readRuntimes(system: System): Runtimes {
  const known = read.get(system);
  if (known !== undefined) return known;
  const runtimes = readNow(system);
  read.set(system, runtimes);
  return runtimes;
}

function readNow(system: System): Runtimes {
  if (system.environment("NETCONFPATH")) return { kind: "seen", runtimes: [] };
  try {
    return { kind: "seen", runtimes: [...readContainerds(system), ...readCrio(system)] };
  } catch (error) {
    if (!(error instanceof SyntaxError) && !isSystemError(error)) throw error;
    return { kind: "unseen", reason: error.message };
  }
}

/** A plugin directory, with the runtime that looks in it. */
export interface RuntimePluginDirectory {
  readonly directory: string;
  readonly runtime: Runtime;
}

/** The plugin directories that the configurations of runtimes name, in the order of their search. */
export function runtimePluginDirectories(system: System): readonly RuntimePluginDirectory[] {
  const found = readRuntimes(system);
  if (found.kind === "unseen") return [];
  return found.runtimes.flatMap((runtime) =>
    (runtime.plugins ?? []).map((directory) => ({ directory, runtime })),
  );
}
