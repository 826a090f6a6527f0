// test: each executable
import { fuzzScenarios } from "./fuzz.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(fuzzScenarios);
