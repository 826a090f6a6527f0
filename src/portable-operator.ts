/** The operator's tool in the portable executable. */

import { operate } from "./operate.ts";
import { createNodeOperatorSystem } from "./system/node/operator-system.ts";

/** Runs the tool, and ends the process, unless a service goes on. */
export function run(): void {
  const system = createNodeOperatorSystem();
  const exitCode = operate(system);
  if (exitCode !== undefined) system.exit(exitCode);
}
