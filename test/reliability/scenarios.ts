/** All scenarios, in the order of the table. */

import { debrisScenarios } from "./debris.ts";
import { diskScenarios } from "./disks.ts";
import { everySystemCallScenarios } from "./every-system-call.ts";
import { hostileInputScenarios } from "./hostile-input.ts";
import { permissionScenarios } from "./permissions.ts";
import type { Scenario } from "./scenario.ts";
import { stormScenarios } from "./storm.ts";
import { streamsScenarios } from "./streams.ts";

export const scenarios: readonly Scenario[] = [
  ...everySystemCallScenarios,
  ...diskScenarios,
  ...debrisScenarios,
  ...stormScenarios,
  ...streamsScenarios,
  ...hostileInputScenarios,
  ...permissionScenarios,
];
