/** The portable executable, on Node.js: the plugin or, with arguments and no CNI command, the operator's tool. */

import { main } from "./main.ts";
import { createNodeSystem } from "./system/node/node-system.ts";

const system = createNodeSystem();
if (system.arguments.length === 0 || system.environment("CNI_COMMAND")) system.exit(main(system));
// Never loaded by a call of the plugin.
import("./portable-operator.ts").then(({ run }) => run());
