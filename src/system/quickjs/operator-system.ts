/** `OperatorSystem` on the C host. */

import type { OperatorSystem } from "../operator-system.ts";
import { wordsOf } from "./host.ts";
import { createQuickJsSystem, type QuickJsSystem } from "./quickjs-system.ts";
import { serve } from "./serve.ts";

/** The system of the operator commands; host.c has set up the process. */
export function createQuickJsOperatorSystem(): OperatorSystem & QuickJsSystem {
  const commands: Omit<OperatorSystem, keyof QuickJsSystem> = {
    ...host,
    arguments: host.arguments(),
    run: (command, limit, options = {}) => {
      const [program, ...words] = command;
      const { name = program, variables = {}, timeout = 0, captureStderr = false } = options;
      const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
      return host.run(
        program,
        wordsOf(program, [name, ...words]),
        limit,
        wordsOf(program, settings),
        timeout,
        captureStderr,
      );
    },
    serve,
  };
  // A copy would not follow `locksOutGoPlugin`.
  return Object.assign(createQuickJsSystem(), commands);
}
