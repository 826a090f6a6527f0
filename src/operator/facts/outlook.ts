/** What the next ADD in a network comes to, as far as this process can tell: by the dry run, as in the plugin's STATUS. */

import { CniError, messageWithDetails } from "../../cni/error.ts";
import { dryRun, type Prospect } from "../../dry-run/dry-run.ts";
import { unescaped } from "../../store/namespaces/mount-lines.ts";
import { hasCapability } from "../../store/namespaces/sight.ts";
import { rootOf } from "../../store/namespaces/view.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError, LARGEST_FILE, type SystemError } from "../../system/system.ts";
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
  /** ADD fails, whatever is free: its error, with the details, and whether the disk is the cause. */
  | { readonly kind: "fails"; readonly reason: string; readonly isOfDisk: boolean }
  | { readonly kind: "unknown"; readonly doubt: string };

/** There is no configuration that ADD could load. */
const UNASKED: Outlook = { kind: "asked", prospects: [], doubt: undefined };

/** The errors of a disk that is full, read-only or broken. */
const OF_DISK = ["EROFS", "ENOSPC", "EDQUOT", "EIO"] as const;

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
    return { kind: "fails", reason, isOfDisk: isSystemError(error, ...OF_DISK) };
  }
}

/** Whether what refuses this process to write refuses the plugin, too. */
function isRefusedToPlugin(
  system: OperatorSystem,
  { code, path }: SystemError,
): "yes" | "no" | "unknown" {
  if (code === "EACCES") return hasCapability(system, DAC_OVERRIDE) ? "yes" : "unknown";
  // A unit or container may have mounted for itself alone what the node can write to.
  if (code !== "EROFS" || hasMountsOfNode(system)) return "yes";
  const [own, first] = ["/proc/self/mountinfo", "/proc/1/mountinfo"].map((file) => {
    const mounts = attempt(() => system.readFile(file, LARGEST_FILE), undefined);
    return mounts && isReadOnly(mounts, path);
  });
  // Behind a link the path is on another mount.
  if (own !== true || first === undefined) return "unknown";
  return first ? "yes" : "no";
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

/**
 * Whether a path is on a mount that is read-only, or on a file system that is.
 *
 * @param mounts the lines of `mountinfo`, see proc_pid_mountinfo(5)
 */
export function isReadOnly(mounts: string, path: string): boolean {
  let longest = "";
  let found = false;
  for (const line of mounts.split("\n")) {
    const fields = line.split(" ");
    const point = unescaped(fields[4] ?? "");
    if (point === "" || point.length < longest.length || !isBelow(path, point)) continue;
    longest = point;
    found = [fields[5], fields.at(-1)].some((options) => options?.split(",").includes("ro"));
  }
  return found;
}

function isBelow(path: string, directory: string): boolean {
  return directory === "/" || path === directory || path.startsWith(`${directory}/`);
}
