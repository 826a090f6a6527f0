// test: each executable, one if short, portable in short, slow
import { testScenarios } from "./scenario-tests.ts";
import { streamScenarios } from "./streams.ts";

testScenarios(streamScenarios);
