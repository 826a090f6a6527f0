/** `CNI_NETNS`: that it is not the plugin's own network namespace, and which it is. */

import { attempt, type NamespaceHandle, recover, type System } from "../system/system.ts";
import { CniError, ErrorCode } from "./error.ts";

/** A network namespace, as a call has seen it. */
export interface NetworkNamespace {
  /** Its inode in the kernel's file system of namespaces, in decimal. */
  readonly inode: string;
  /** Its id in decimal, which the kernel gives to no other one; `undefined` where it gives none, before Linux 6.18. */
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
  const theirs = identityOf(system, path);
  const own = theirs && attempt(() => system.status(OWN), undefined);
  if (theirs === undefined || own === undefined) return undefined;
  // All namespaces are on one device.
  if (theirs.device !== undefined && theirs.device !== own.device) return undefined;
  const { id, inode } = theirs;
  if (inode === own.inode) {
    throw new CniError(
      ErrorCode.invalidNetworkNamespace,
      "plugin's netns and netns from CNI_NETNS should not be the same",
      `CNI_NETNS is ${path}`,
    );
  }
  const isFollowed = path.startsWith("/") && !NO_PATH.test(path) && !isOwnPath(path);
  return isFollowed ? { inode: String(inode), id, path } : undefined;
}

/** What a line cannot have, and what stands in a text in place of bytes that are not UTF-8. */
const NO_PATH = /[\n\ufffd\ud800-\udfff]/u;

/** The namespace of this process. */
const OWN = "/proc/self/ns/net";

/** Whether a path leads each process elsewhere. */
function isOwnPath(path: string): boolean {
  return path.startsWith("/proc/") && /^\/proc\/(thread-)?self\//.test(path);
}

/** The identity of a namespace: its handle, or else its inode on its device; `undefined` where it cannot be looked at. */
function identityOf(
  system: System,
  path: string,
): { readonly id?: string; readonly device?: bigint; readonly inode: bigint } | undefined {
  if (path === "") return undefined;
  const look = (): NamespaceHandle | undefined => system.namespaceHandle(path);
  // The namespace may be there whatever other error keeps the kernel from giving it a handle.
  const handle = recover(look, ({ code }) => (code === "ENOENT" ? null : undefined));
  if (handle === null) return undefined;
  return handle ?? attempt(() => system.status(path), undefined);
}
