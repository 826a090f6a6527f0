/** A broken plugin, with which tests must fail. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";

/** A defect, and what notices it. */
export interface Defect {
  readonly fault: string;
  /** A script of the shell in place of the plugin; in it `plugin` is the plugin under test. */
  readonly script: string;
  /** The title of the assertion that fails. */
  readonly noticed: string;
}

/** The script of a plugin of which one command succeeds without doing anything. */
export function idleAt(command: string): string {
  return `if [ "$CNI_COMMAND" = ${command} ]; then exec cat >/dev/null; fi; plugin`;
}

/**
 * Asserts that a test file fails with a broken plugin, and says what is broken.
 *
 * @param file the test file, relative to the top of the repository
 */
export function mustFailWith(t: Test, file: string, { script, noticed }: Defect): void {
  const plugin = join(scratchDirectory(t), "host-local");
  const text = `#!/bin/sh\nplugin() { '${executable}'; }\n${script}\n`;
  writeFileSync(plugin, text, { mode: 0o755 });
  const { HOST_LOCAL_CLIENT_RUNS: _, ...environment } = process.env;
  const report = spawnSync(process.execPath, [inRepository(file)], {
    env: { ...environment, HOST_LOCAL_BIN: plugin, TAP_BAIL: "1" },
    encoding: "utf8",
  });
  t.equal(report.status, 1);
  t.match(report.stdout, new RegExp(`^ *not ok \\d+ - ${noticed}$`, "m"));
}
