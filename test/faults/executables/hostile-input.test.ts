// test: each executable, slow
import { hostileInputScenarios } from "./hostile-input.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(hostileInputScenarios);
