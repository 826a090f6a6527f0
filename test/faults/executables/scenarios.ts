/** All scenarios, in the order of the table. */

import { concurrentCallScenarios } from "./concurrent-calls.ts";
import { corruptJournalScenarios } from "./corrupt-journals.ts";
import { corruptOwnFileScenarios } from "./corrupt-own-files.ts";
import { corruptReservationScenarios } from "./corrupt-reservations.ts";
import { everySystemCallScenarios } from "./every-system-call.ts";
import { fileModesScenarios } from "./file-modes.ts";
import { fullDiskScenarios } from "./full-disk.ts";
import { generatedCallScenarios } from "./generated-calls.ts";
import { goHolderScenarios } from "./go-holder.ts";
import { inputScenarios } from "./input-streams.ts";
import { leftoverScenarios } from "./leftovers.ts";
import { lockHolderScenarios } from "./lock-holders.ts";
import { movedScenarios } from "./moved.ts";
import { oddPlacesScenarios } from "./odd-places.ts";
import { powerLossScenarios } from "./power-loss.ts";
import { refusedDiskScenarios } from "./refused-disk.ts";
import { repairScenarios } from "./repairs.ts";
import type { Scenario } from "./scenario.ts";
import { streamScenarios } from "./streams.ts";
import { stressScenarios } from "./stress.ts";
import { takeOverScenarios } from "./take-over.ts";

export const scenarios: readonly Scenario[] = [
  everySystemCallScenarios,
  fullDiskScenarios,
  refusedDiskScenarios,
  oddPlacesScenarios,
  powerLossScenarios,
  movedScenarios,
  takeOverScenarios,
  corruptReservationScenarios,
  corruptJournalScenarios,
  corruptOwnFileScenarios,
  leftoverScenarios,
  repairScenarios,
  lockHolderScenarios,
  concurrentCallScenarios,
  goHolderScenarios,
  stressScenarios,
  inputScenarios,
  streamScenarios,
  generatedCallScenarios,
  fileModesScenarios,
].flat();
