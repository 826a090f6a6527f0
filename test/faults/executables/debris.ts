/** Debris of every kind, wherever the executables look. */

import { cursorDebrisScenarios } from "./cursor-debris.ts";
import { healingScenarios } from "./healing.ts";
import { leftoverScenarios } from "./leftovers.ts";
import { ownFileDebrisScenarios } from "./own-file-debris.ts";
import { reservationDebrisScenarios } from "./reservation-debris.ts";
import type { Scenario } from "./scenario.ts";
import { wrongJournalScenarios } from "./wrong-journal.ts";

export const debrisScenarios: readonly Scenario[] = [
  ...reservationDebrisScenarios,
  ...cursorDebrisScenarios,
  ...wrongJournalScenarios,
  ...ownFileDebrisScenarios,
  ...leftoverScenarios,
  ...healingScenarios,
];
