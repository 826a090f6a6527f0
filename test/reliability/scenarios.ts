/** All scenarios, in the order of the table. */

import { debrisScenarios } from "./debris.ts";
import { diskScenarios } from "./disks.ts";
import { everySystemCallScenarios } from "./every-system-call.ts";
import { permissionScenarios } from "./permissions.ts";
import type { Scenario } from "./scenario.ts";

export const scenarios: readonly Scenario[] = [
  ...everySystemCallScenarios,
  ...diskScenarios,
  ...debrisScenarios,
  ...permissionScenarios,
];
