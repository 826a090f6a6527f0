/** What is made has its modes, and is made in the data directory. */

import { fileModesScenarios } from "./file-modes.ts";
import { plantedLinksScenarios } from "./planted-links.ts";
import type { Scenario } from "./scenario.ts";

export const permissionScenarios: readonly Scenario[] = [
  ...fileModesScenarios,
  ...plantedLinksScenarios,
];
