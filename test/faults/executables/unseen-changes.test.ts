// test: each executable, one if short, Go plugin
import { testScenarios } from "./scenario-tests.ts";
import { unseenChangeScenarios } from "./unseen-changes.ts";

testScenarios(unseenChangeScenarios);
