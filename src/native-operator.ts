/** The operator's tool in the native executable. */

import { operate } from "./operate.ts";
import { createQuickJsOperatorSystem } from "./system/quickjs/operator-system.ts";

const system = createQuickJsOperatorSystem();
const exitCode = operate(system);
if (exitCode !== undefined) system.exit(exitCode);
