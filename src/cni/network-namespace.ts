/** `CNI_NETNS`: that it is not the plugin's own network namespace, and which it is. */

import type { FileStatus, System } from "../system/system.ts";
import { CniError, ErrorCode } from "./error.ts";

/** A network namespace, as a call has seen it. */
export interface NetworkNamespace {
  /** Its inode in the kernel's file system of namespaces, in decimal. */
  readonly inode: string;
  /** Its id, which the kernel gives to no other one, in decimal; `undefined` where the kernel gives none, before Linux 6.18. */
  readonly id?: string | undefined;
  /** Its path as given: absolute, and of one line. */
  readonly path: string;
}

/**
 * Refuses a network namespace that is the plugin's own, as the Go plugin's `skel` does, unless
 * `CNI_NETNS_OVERRIDE` is `1` or `true`. A path that `stat(2)` fails on is not refused.
 *
 * @param path the value of `CNI_NETNS`
 * @returns the namespace; `undefined` where the path leads to none (`/dev/null`), is one that no other process could follow,
 *   or was not looked at
 * @throws CniError 8
 */
export function refuseOwnNetworkNamespace(
  system: System,
  path: string,
): NetworkNamespace | undefined {
  const override = (system.environment("CNI_NETNS_OVERRIDE") ?? "").toLowerCase();
  if (override === "1" || override === "true") return undefined;
  const theirs = identity(system, path);
  const own = theirs && identity(system, "/proc/self/ns/net");
  // All namespaces are on one device.
  if (theirs === undefined || own === undefined || theirs.device !== own.device) return undefined;
  if (theirs.inode === own.inode) {
    throw new CniError(
      ErrorCode.invalidNetworkNamespace,
      "plugin's netns and netns from CNI_NETNS should not be the same",
      `CNI_NETNS is ${path}`,
    );
  }
  const isFollowed = path.startsWith("/") && !NO_PATH.test(path) && !isOwnPath(path);
  return isFollowed ? { inode: String(theirs.inode), path } : undefined;
}

/** What a line cannot have, and what stands in a text in place of bytes that are not UTF-8. */
const NO_PATH = /[\n\ufffd\ud800-\udfff]/u;

/** Whether a path leads each process elsewhere. */
function isOwnPath(path: string): boolean {
  return path.startsWith("/proc/") && /^\/proc\/(thread-)?self\//.test(path);
}

function identity(system: System, path: string): Pick<FileStatus, "device" | "inode"> | undefined {
  if (path === "") return undefined;
  try {
    return system.status(path);
  } catch {
    return undefined;
  }
}
