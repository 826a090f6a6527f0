/** Signing is done by a command of whoever releases: gpg, minisign, cosign or another. */

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";

/** The files of a release that are signed: the archives, packages and image, the list of all sums, and the provenance. */
export function signedFiles(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => /\.(tgz|deb|rpm|raw|oci\.tar)$|^SHA256SUMS$|\.intoto\.jsonl$/.test(name))
    .sort()
    .map((name) => join(directory, name));
}

/**
 * Runs a command that signs a file; it may ask at the terminal.
 *
 * @throws when it cannot be started or fails
 */
export function signWith(command: string, file: string): void {
  const { status, error } = spawnSync(command, [file], { stdio: "inherit" });
  if (status === 0) return;
  const reason = error === undefined ? `it ended with ${status}` : error.message;
  throw new Error(`${command} failed for ${basename(file)}: ${reason}`);
}
