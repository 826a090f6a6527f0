/** Pipes whose ends a test holds, and shells between a test and the plugin. */

import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import type { Call } from "../../harness/executable.ts";
import { callWithin, type Ending } from "./running-call.ts";
import type { Context } from "./scenario.ts";
import type { Subject } from "./subject.ts";

/** For calls that should end at once, on a machine that is busy. */
const SOON = 60_000;

/** Both ends of a new pipe: the reader blocks, as the pipe of a runtime, the writer does not. */
export function openPipe(context: Pick<Context, "teardown">): {
  readonly reader: number;
  readonly writer: number;
} {
  const path = join(scratchDirectory(context), "pipe");
  spawnSync("mkfifo", [path]);
  // Neither end can be opened alone and block.
  const first = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const reader = openSync(path, constants.O_RDONLY);
  closeSync(first);
  return { reader, writer };
}

/** Makes a call from a script of the shell, whose `$0` is the plugin. */
export function throughShell(
  script: string,
  call: Call,
  { path }: Subject,
  limit = SOON,
): Promise<Ending> {
  return callWithin("/bin/sh", { ...call, arguments: ["-c", script, path] }, { limit });
}
