/** The modes of all new files and directories, under any umask of the caller. */

import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { lacking } from "../../harness/needs.ts";
import { handOver } from "../../harness/unprivileged.ts";
import { FaultNetwork } from "./network.ts";
import { type Case, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** A caller: its umask in octal, and its user. */
interface Caller extends Case {
  readonly umask: string;
  readonly isUnprivileged: boolean;
}

const callers: readonly Caller[] = ["000", "022", "027", "077", "777"].flatMap((umask) => [
  { what: `umask 0${umask}, by root`, umask, isUnprivileged: false },
  { what: `umask 0${umask}, by another user`, umask, isUnprivileged: true },
]);

/** The mode that a directory must have: the Go plugin's, except for directories of our own files. */
function modeOfDirectory(path: string): string {
  return path.includes("/.host-local") ? "700" : "755";
}

/** ADDs and a DEL into a data directory that is missing with its parents. */
async function attempt(trial: Trial, { umask, isUnprivileged }: Caller): Promise<void> {
  const scratch = scratchDirectory(trial);
  if (isUnprivileged) handOver(scratch);
  const under = ["/bin/sh", "-c", `umask ${umask}; exec "$0"`];
  const directory = join(scratch, "a/b/c");
  const network = new FaultNetwork(trial, { directory, isUnprivileged, under });
  await network.mustWork("ADD", "first");
  await network.mustWork("ADD", "second");
  await network.mustWork("DEL", "first");
  await network.mustWork("ADD", "third");
  for (const entry of readdirSync(scratch, { recursive: true, withFileTypes: true })) {
    // A link has no mode.
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(scratch, path);
    const mode = (lstatSync(path).mode & 0o7777).toString(8);
    const expected = entry.isDirectory() ? modeOfDirectory(name) : "600";
    const detail = `${name} has ${mode} in place of ${expected}`;
    trial.verifier.require(mode === expected, "escaped", detail);
  }
}

export const fileModesScenarios: readonly Scenario[] = [
  {
    fault: "umask of the caller, from 0 to 0777",
    promise: "directories have mode 0755, files 0600",
    obstacle: () => lacking("acts as others") || undefined,
    attempt: eachOf(callers, attempt),
  },
];
