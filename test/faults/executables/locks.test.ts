// test: each executable, one if short, portable in short, Go plugin, slow
import { concurrentCallScenarios } from "./concurrent-calls.ts";
import { goHolderScenarios } from "./go-holder.ts";
import { lockHolderScenarios } from "./lock-holders.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(lockHolderScenarios, concurrentCallScenarios, goHolderScenarios);
