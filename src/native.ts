/** The native executable: the plugin on QuickJS. */

import { main } from "./main.ts";
import { createQuickJsSystem } from "./system/quickjs/quickjs-system.ts";

const system = createQuickJsSystem();
system.exit(main(system));
