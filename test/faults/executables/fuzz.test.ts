// test: each executable, slow
import { fuzzScenarios } from "./fuzz.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(fuzzScenarios);
