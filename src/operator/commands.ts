/** All commands, in the order of the overview. */

import { check } from "./check.ts";
import type { Command } from "./command.ts";
import { gc } from "./gc.ts";
import { list } from "./list.ts";
import { metrics } from "./metrics.ts";

export const commands: readonly Command[] = [list, check, gc, metrics];
