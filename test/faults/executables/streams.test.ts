// test: each executable, slow
import { inputScenarios } from "./input-streams.ts";
import { testScenarios } from "./scenario-tests.ts";
import { streamScenarios } from "./streams.ts";

testScenarios(inputScenarios, streamScenarios);
