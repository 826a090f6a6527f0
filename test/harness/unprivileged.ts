/** Calls by a user whom file permissions bind, even if the tests themselves run as root. */

import { chmodSync, chownSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { scratchDirectory } from "./data-directory.ts";
import { executable, run } from "./executable.ts";
import type { CallOptions } from "./executable-network.ts";
import { lacking, NOBODY } from "./needs.ts";
import { versionCall } from "./runtime-call.ts";

/** Whether the tests run as root, whom no permission stops. Tests ask `lacking("acts as others")`. */
export const isRoot = process.getuid?.() === 0;

/**
 * Says how to call an executable without privileges. If `nobody` cannot reach it, because a directory above it is closed, a
 * copy is used.
 *
 * @param t the test that owns the copy
 * @param program the executable; by default the one under test
 */
export function withoutPrivileges(
  t: Pick<Test, "teardown">,
  program = executable,
): Pick<CallOptions, "user"> & { readonly program: string } {
  if (lacking("acts as others") !== false) {
    return { program };
  }
  if (isReachable(program)) {
    return { program, user: NOBODY };
  }
  const copy = join(scratchDirectory(t), "host-local");
  copyFileSync(program, copy);
  chmodSync(copy, 0o755);
  return { program: copy, user: NOBODY };
}

/** Whether permissions bind a call by that user: root may be unable to act as another user. */
export function bindsCalls(): boolean {
  return process.getuid?.() !== 0 || lacking("acts as others") === false;
}

/**
 * Gives a file or directory to the user of {@link withoutPrivileges}.
 *
 * @param path the path
 */
export function handOver(path: string): void {
  if (lacking("acts as others") === false) {
    chownSync(path, NOBODY, NOBODY);
  }
}

function isReachable(program: string): boolean {
  try {
    return run(program, { ...versionCall(), user: NOBODY }).exitCode === 0;
  } catch {
    return false;
  }
}
