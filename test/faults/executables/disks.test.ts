// test: each executable, one if short, slow
import { fullDiskScenarios } from "./full-disk.ts";
import { placeScenarios } from "./places.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(fullDiskScenarios, placeScenarios);
