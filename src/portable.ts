/**
 * The portable executable, on Node.js: the plugin or, with arguments and no CNI command, the operator's tool. Called as
 * `static` it is only that plugin.
 */

import { main } from "./main.ts";
import { staticPlugin } from "./static/static.ts";
import { createNodeSystem } from "./system/node/node-system.ts";

const system = createNodeSystem();
const { programName } = system;
if (
  programName === staticPlugin.name ||
  system.arguments.length === 0 ||
  system.environment("CNI_COMMAND")
) {
  system.exit(main(system, programName));
}
// Never loaded by a call of the plugin.
import("./portable-operator.ts").then(({ run }) => run());
