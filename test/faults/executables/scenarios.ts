/** All scenarios, in the order of the table. */

import { concurrentCallScenarios } from "./concurrent-calls.ts";
import { corruptFileScenarios } from "./corrupt-files.ts";
import { everySystemCallScenarios } from "./every-system-call.ts";
import { fileModesScenarios } from "./file-modes.ts";
import { fullDiskScenarios } from "./full-disk.ts";
import { generatedCallScenarios } from "./generated-calls.ts";
import { goHolderScenarios } from "./go-holder.ts";
import { lockHolderScenarios } from "./lock-holders.ts";
import { placeScenarios } from "./places.ts";
import { powerLossScenarios } from "./power-loss.ts";
import type { Scenario } from "./scenario.ts";
import { streamScenarios } from "./streams.ts";
import { stressScenarios } from "./stress.ts";
import { takeOverScenarios } from "./take-over.ts";

export const scenarios: readonly Scenario[] = [
  everySystemCallScenarios,
  fullDiskScenarios,
  placeScenarios,
  powerLossScenarios,
  takeOverScenarios,
  corruptFileScenarios,
  lockHolderScenarios,
  concurrentCallScenarios,
  goHolderScenarios,
  stressScenarios,
  streamScenarios,
  generatedCallScenarios,
  fileModesScenarios,
].flat();
