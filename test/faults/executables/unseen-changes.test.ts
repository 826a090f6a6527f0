// test: each executable, one if short, portable in short, Go plugin, slow, sees the node, mounts
/** Changes that a file system does not show well enough: by a loss of power, by another machine, behind a cache. */

import { powerLossScenarios } from "./power-loss.ts";
import { testScenarios } from "./scenario-tests.ts";
import { takeOverScenarios } from "./take-over.ts";

testScenarios(powerLossScenarios, takeOverScenarios);
