/** The instructions of a call, which no other load on the machine changes. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Whether instructions can be counted here. */
export const canCount = spawnSync("valgrind", ["--version"]).status === 0;

/**
 * Counts the instructions of a call in user mode, by callgrind.
 *
 * @param directory where the profile is written
 */
export function countInstructions(
  executable: string,
  environment: Readonly<Record<string, string>>,
  stdin: string | Uint8Array,
  directory: string,
): number {
  const profile = `--callgrind-out-file=${join(directory, "profile")}`;
  const { status, stderr } = spawnSync("valgrind", ["--tool=callgrind", profile, executable], {
    env: environment,
    input: stdin,
    encoding: "utf8",
  });
  const [, count] = /Collected : ([0-9]+)/.exec(stderr) ?? [];
  if (status !== 0 || count === undefined) {
    throw new Error(`A call under valgrind ended with ${status}: ${stderr}`);
  }
  return Number(count);
}
