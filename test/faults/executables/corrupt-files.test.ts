// test: each executable, one if short, slow
import { corruptFileScenarios } from "./corrupt-files.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(corruptFileScenarios);
