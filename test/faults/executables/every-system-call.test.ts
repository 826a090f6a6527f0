// test: each executable, one if short, slow
import { everySystemCallScenarios } from "./every-system-call.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(everySystemCallScenarios);
