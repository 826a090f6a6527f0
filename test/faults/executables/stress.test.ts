// test: each executable, one if short, portable in short, Go plugin, slow
import { testScenarios } from "./scenario-tests.ts";
import { stressScenarios } from "./stress.ts";

testScenarios(stressScenarios);
