/** Everything that can happen to the holder of the lock, to the lock and to those who wait for it. */

import { clockScenarios } from "./clock.ts";
import { crowdScenarios } from "./crowd.ts";
import { goHolderScenarios } from "./go-holder.ts";
import { lockHolderScenarios } from "./lock-holders.ts";
import { removedLockScenarios } from "./removed-lock.ts";
import type { Scenario } from "./scenario.ts";

export const lockScenarios: readonly Scenario[] = [
  ...lockHolderScenarios,
  ...removedLockScenarios,
  ...clockScenarios,
  ...crowdScenarios,
  ...goHolderScenarios,
];
