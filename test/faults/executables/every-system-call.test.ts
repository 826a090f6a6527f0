// test: each executable, slow
import { everySystemCallScenarios } from "./every-system-call.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(everySystemCallScenarios);
