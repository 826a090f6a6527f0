// test: each executable, one if short, slow
import { fullDiskScenarios } from "./full-disk.ts";
import { oddPlacesScenarios } from "./odd-places.ts";
import { refusedDiskScenarios } from "./refused-disk.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(fullDiskScenarios, refusedDiskScenarios, oddPlacesScenarios);
