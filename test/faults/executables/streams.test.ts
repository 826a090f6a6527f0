// test: each executable, one if short
import { testScenarios } from "./scenario-tests.ts";
import { streamsScenarios } from "./streams.ts";

testScenarios(streamsScenarios);
