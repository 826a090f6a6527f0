/** The modes of all that is made, under any umask of the caller. */

import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { type Call, start } from "../../harness/executable.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { handOver, isRoot, withoutPrivileges } from "../../harness/unprivileged.ts";
import { Verifier } from "../../harness/violations.ts";
import { DualStack } from "./dual-stack.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

/** What the caller has, in octal. */
const umasks = ["000", "022", "027", "077", "777"];

/** The mode that a directory is to have: the Go plugin's, but for those of our own files. */
function modeOfDirectory(path: string): string {
  return path.includes("/.host-local") ? "700" : "755";
}

/** The mode that a file of this name is to have. */
function modeOfFile(path: string): string {
  return path.endsWith("net/lock") ? "750" : "600";
}

/** The same call from a shell with another umask. */
function underUmask(umask: string, program: string, call: Call) {
  const script = `umask ${umask}; exec "$0"`;
  return start("/bin/sh", { ...call, arguments: ["-c", script, program] });
}

/** ADDs and a DEL into a data directory that is missing with its parents. */
async function verifyModes(
  { subject, teardown }: Context,
  umask: string,
  isPrivileged: boolean,
): Promise<Attempt> {
  const verifier = new Verifier();
  const scratch = scratchDirectory({ teardown });
  const { program, ...as } = withoutPrivileges({ teardown }, subject.path);
  if (!isPrivileged) handOver(scratch);
  const network = new DualStack(subject, join(scratch, "a/b/c"), isPrivileged ? {} : as);
  for (const [command, containerId] of [
    ["ADD", "first"],
    ["ADD", "second"],
    ["DEL", "first"],
    ["ADD", "third"],
  ] as const) {
    const call = network.call(command, containerId);
    const outcome = await underUmask(umask, program, call);
    verifier.require(outcome.exitCode === 0, "refused", `${command}: ${outcome.stdout}`);
  }
  for (const { path, kind, mode } of entriesBelow(scratch)) {
    const expected = kind === "directory" ? modeOfDirectory(path) : modeOfFile(path);
    verifier.require(mode === expected, "escaped", `${path} has ${mode} in place of ${expected}`);
  }
  const who = isPrivileged ? "root" : "another user";
  return { what: `umask 0${umask}, by ${who}`, violations: verifier.violations };
}

/** All files except symbolic links, which have no mode. */
function entriesBelow(directory: string) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return {
        path: relative(directory, path),
        kind: entry.isDirectory() ? "directory" : "file",
        mode: (lstatSync(path).mode & 0o7777).toString(8),
      };
    });
}

export const fileModesScenarios: readonly Scenario[] = [
  {
    fault: "umask of the caller, from 0 to 0777",
    promise: "directories have mode 0755, reservations and cursors 0600, the lock 0750",
    obstacle: () => (isRoot ? undefined : "Reading what umask 0777 leaves needs root."),
    attempt: (context) =>
      sideBySide(
        shortSampleOf(
          context,
          umasks.flatMap((umask) => [true, false].map((isPrivileged) => ({ umask, isPrivileged }))),
        ),
        3,
        ({ umask, isPrivileged }) => verifyModes(context, umask, isPrivileged),
      ),
  },
];
