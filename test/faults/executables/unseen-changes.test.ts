import { testScenarios } from "./scenario-tests.ts";
import { unseenChangeScenarios } from "./unseen-changes.ts";

testScenarios(unseenChangeScenarios);
