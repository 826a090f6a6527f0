/** Changes of which a file system shows too little: by the loss of power, by another machine, behind a cache. */

import { movedScenarios } from "./moved.ts";
import { powerLossScenarios } from "./power-loss.ts";
import type { Scenario } from "./scenario.ts";
import { takeOverScenarios } from "./take-over.ts";

export const unseenChangeScenarios: readonly Scenario[] = [
  ...powerLossScenarios,
  ...movedScenarios,
  ...takeOverScenarios,
];
