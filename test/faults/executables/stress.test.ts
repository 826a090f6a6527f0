// test: each executable, Go plugin
import { testScenarios } from "./scenario-tests.ts";
import { stressScenarios } from "./stress.ts";

testScenarios(stressScenarios);
