/** The portable executable: the plugin on Node.js. */

import { main } from "./main.ts";
import { createNodeSystem } from "./system/node/node-system.ts";

const system = createNodeSystem();
system.exit(main(system));
