/** What the next ADD in a network comes to, as far as this process can tell: by the dry run, as in the plugin's STATUS. */

import { CniError, messageWithDetails } from "../../cni/error.ts";
import { dryRun, type Prospect } from "../../dry-run/dry-run.ts";
import { parentOf } from "../../store/files/paths.ts";
import { hasCapability } from "../../store/namespaces/sight.ts";
import { rootOf } from "../../store/namespaces/view.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError, type SystemError } from "../../system/system.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { NodeLifeFacts } from "./life-facts.ts";

/** What the ADD of a pod that asks for nothing comes to. */
export type Outlook =
  /** What ADD finds in each range set; with a doubt where this process could not tell all. */
  | {
      readonly kind: "asked";
      readonly prospects: readonly Prospect[];
      readonly doubt: string | undefined;
    }
  /** ADD fails, whatever is free: its error, with the details. */
  | { readonly kind: "fails"; readonly reason: string }
  | { readonly kind: "unknown"; readonly doubt: string };

/** There is no configuration that ADD could load. */
const UNASKED: Outlook = { kind: "asked", prospects: [], doubt: undefined };

/** `CAP_DAC_OVERRIDE`, see capabilities(7). */
const DAC_OVERRIDE = 1n << 1n;

/**
 * Asks what the next ADD in a network comes to. What refuses this process alone is a doubt: the runtime calls the plugin as
 * root of the node, outside of a container or unit.
 *
 * @param seen what became of network namespaces, and what is in use
 */
export function outlookOf(
  system: OperatorSystem,
  network: FoundNetwork,
  seen: Pick<NodeLifeFacts, "states" | "useIn">,
): Outlook {
  const { files, reserves } = network;
  // A relative data directory is another one for the plugin.
  if (!reserves || !files.dataDir.startsWith("/")) return UNASKED;
  let doubt: string | undefined;
  const isRefused = (error: SystemError): boolean => {
    const answer = isRefusedToPlugin(system, error);
    if (answer === "unknown") doubt = `${error.message}, for this process at least`;
    return answer === "yes";
  };
  try {
    const options = { states: seen.states, use: seen.useIn(files), isRefused };
    return { kind: "asked", prospects: dryRun(files, network, options), doubt };
  } catch (error) {
    const isCniError = error instanceof CniError;
    if (!isCniError && !isSystemError(error)) throw error;
    // A container need not have the files that a configuration names.
    const isCertain = isCniError
      ? hasRootOfNode(system)
      : isRefusedToPlugin(system, error) !== "unknown";
    const reason = messageWithDetails(error);
    if (!isCertain) return { kind: "unknown", doubt: reason };
    return { kind: "fails", reason };
  }
}

/** Whether what refuses this process to write refuses the plugin, too. */
function isRefusedToPlugin(
  system: OperatorSystem,
  { code, path }: SystemError,
): "yes" | "no" | "unknown" {
  if (code === "EACCES") return hasCapability(system, DAC_OVERRIDE) ? "yes" : "unknown";
  if (code !== "EROFS" || hasMountsOfNode(system)) return "yes";
  // A unit or container may have mounted for itself alone what the node can write to.
  return isWritableToFirstProcess(system, path) ? "no" : "unknown";
}

/** Whether the first process can write there, as far as can be seen: a link on the way may lead to a mount of this process. */
function isWritableToFirstProcess(system: OperatorSystem, path: string): boolean {
  const seen = `/proc/1/root${path}`;
  const require = (): boolean => {
    const isDirectory = system.status(seen).kind === "directory";
    system.requireWritable(isDirectory ? seen : parentOf(seen));
    return true;
  };
  return attempt(require, false);
}

/** Whether what is mounted for this process is what is for the first one: outside of a container, or of a unit with its own. */
export function hasMountsOfNode(system: OperatorSystem): boolean {
  const read = (process: string): string => system.readLink(`/proc/${process}/ns/mnt`);
  return attempt(() => read("self") === read("1"), false);
}

/** Whether this process sees the files of the node at their paths: its root is that of the first process. */
export function hasRootOfNode(system: OperatorSystem): boolean {
  return attempt(() => rootOf(system, "self") === rootOf(system, "1"), false);
}
