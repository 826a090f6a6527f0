/** Full and read-only disks, and unusual places of the data directory. */

import { blockedPlacesScenarios } from "./blocked-places.ts";
import { bootScenarios } from "./boots.ts";
import { fullDiskScenarios } from "./full-disk.ts";
import { oddPlacesScenarios } from "./odd-places.ts";
import { refusedDiskScenarios } from "./refused-disk.ts";
import type { Scenario } from "./scenario.ts";

export const diskScenarios: readonly Scenario[] = [
  ...fullDiskScenarios,
  ...refusedDiskScenarios,
  ...blockedPlacesScenarios,
  ...oddPlacesScenarios,
  ...bootScenarios,
];
