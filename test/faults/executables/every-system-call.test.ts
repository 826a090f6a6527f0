// test: each executable, one if short, portable in short, slow
import { everySystemCallScenarios } from "./every-system-call.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(everySystemCallScenarios);
