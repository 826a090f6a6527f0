// test: each executable, slow, acts as others
import { fileModesScenarios } from "./file-modes.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(fileModesScenarios);
