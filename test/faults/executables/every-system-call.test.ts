// test: each executable
import { everySystemCallScenarios } from "./every-system-call.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(everySystemCallScenarios);
