/** All scenarios, in the order of the table. */

import { everySystemCallScenarios } from "./every-system-call.ts";
import type { Scenario } from "./scenario.ts";

export const scenarios: readonly Scenario[] = [...everySystemCallScenarios];
