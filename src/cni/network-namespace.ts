/** The check that CNI_NETNS is not the plugin's own network namespace. */

import type { System } from "../system/system.ts";
import { CniError, ErrorCode } from "./error.ts";

/**
 * Refuses a network namespace that is the plugin's own, as the Go plugin's `skel` does, unless
 * `CNI_NETNS_OVERRIDE` is `1` or `true`. A path that `stat(2)` fails on is not refused.
 *
 * @param path the value of `CNI_NETNS`
 * @throws CniError 8
 */
export function refuseOwnNetworkNamespace(system: System, path: string): void {
  const override = (system.environment("CNI_NETNS_OVERRIDE") ?? "").toLowerCase();
  if (override === "1" || override === "true") return;
  const theirs = identity(system, path);
  if (theirs !== undefined && theirs === identity(system, "/proc/self/ns/net")) {
    throw new CniError(
      ErrorCode.invalidNetworkNamespace,
      "plugin's netns and netns from CNI_NETNS should not be the same",
      `CNI_NETNS is ${path}`,
    );
  }
}

function identity(system: System, path: string): string | undefined {
  if (path === "") return undefined;
  try {
    const { device, inode } = system.status(path);
    return `${device}:${inode}`;
  } catch {
    return undefined;
  }
}
