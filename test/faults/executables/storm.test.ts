// test: each executable, Go plugin
import { testScenarios } from "./scenario-tests.ts";
import { stormScenarios } from "./storm.ts";

testScenarios(stormScenarios);
