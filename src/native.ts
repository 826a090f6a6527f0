/**
 * The native executable: the plugin on QuickJS. The build runs this file up to its end and keeps what is in memory then,
 * so nothing outside a function may ask anything of the machine.
 */

import { main } from "./main.ts";
import { createQuickJsSystem, makeBuiltIns } from "./system/quickjs/quickjs-system.ts";

makeBuiltIns();
const system = createQuickJsSystem();
host.serve = (name) => system.exit(main(system, name));
