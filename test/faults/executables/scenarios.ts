/** All scenarios, in the order of the table. */

import { debrisScenarios } from "./debris.ts";
import { differentialFuzzScenarios } from "./differential-fuzz.ts";
import { diskScenarios } from "./disks.ts";
import { everySystemCallScenarios } from "./every-system-call.ts";
import { fuzzScenarios } from "./fuzz.ts";
import { hostileInputScenarios } from "./hostile-input.ts";
import { lockScenarios } from "./locks.ts";
import { permissionScenarios } from "./permissions.ts";
import type { Scenario } from "./scenario.ts";
import { stormScenarios } from "./storm.ts";
import { streamsScenarios } from "./streams.ts";
import { unseenChangeScenarios } from "./unseen-changes.ts";

export const scenarios: readonly Scenario[] = [
  ...everySystemCallScenarios,
  ...diskScenarios,
  ...unseenChangeScenarios,
  ...debrisScenarios,
  ...lockScenarios,
  ...stormScenarios,
  ...streamsScenarios,
  ...hostileInputScenarios,
  ...fuzzScenarios,
  ...differentialFuzzScenarios,
  ...permissionScenarios,
];
