/** The operator's tool in the executable under test. */

import { executable, type Outcome, run } from "../blackbox/executable.ts";
import { runtimeEnvironment } from "../blackbox/runtime-call.ts";

/** What varies, besides the words. */
export interface ToolOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly program?: string;
  readonly user?: number;
}

/**
 * Runs the tool with these words behind its name.
 *
 * @param words such as `["list", "mynet"]`
 * @param options what it finds around it
 */
export function tool(words: readonly string[], options: ToolOptions = {}): Outcome {
  return run(options.program ?? executable, {
    arguments: words,
    environment: { ...runtimeEnvironment, ...options.environment },
    stdin: options.stdin ?? "",
    ...(options.user === undefined ? {} : { user: options.user }),
  });
}
