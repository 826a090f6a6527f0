// test: each executable, slow
import { fileModesScenarios } from "./file-modes.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(fileModesScenarios);
