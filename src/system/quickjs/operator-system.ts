/** `OperatorSystem` on the C host. */

import type { CompletedProcess, OperatorSystem, PluginCall } from "../operator-system.ts";
import { isSystemError } from "../system.ts";
import { wordsOf } from "./host.ts";
import { createQuickJsSystem, type QuickJsSystem } from "./quickjs-system.ts";
import { serve } from "./serve.ts";

/** The system of the operator commands; host.c has set up the process. */
export function createQuickJsOperatorSystem(): OperatorSystem & QuickJsSystem {
  const commands: Omit<OperatorSystem, keyof QuickJsSystem> = {
    ...host,
    run,
    serve,
  };
  return Object.assign(createQuickJsSystem(), commands);
}

/** The exit code of a program that could not be started, as in a shell. */
const NOT_STARTED = 127;

/** The longest wait, in milliseconds. */
const LONGEST_WAIT = 2 ** 31 - 1;

function run(
  [program, ...words]: readonly [string, ...string[]],
  limit: number,
  plugin?: PluginCall,
): CompletedProcess {
  const { name = program, command = "", timeout = 0 } = plugin ?? {};
  const argv = wordsOf(program, [name, ...words]);
  try {
    host.start(program, argv, command, {
      timeout,
      limit,
      capturesOutput: true,
      capturesErrors: plugin !== undefined,
    });
  } catch (error) {
    if (plugin !== undefined || !isSystemError(error, "ENOENT", "EACCES")) throw error;
    return { exitCode: NOT_STARTED, stdout: "", stderr: "" };
  }
  for (;;) {
    host.wait(LONGEST_WAIT);
    const completed = host.result(program);
    if (completed !== undefined) return completed;
  }
}
