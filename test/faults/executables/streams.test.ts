// test: each executable, slow
import { testScenarios } from "./scenario-tests.ts";
import { streamScenarios } from "./streams.ts";

testScenarios(streamScenarios);
