// test: each executable, one if short, slow
import { bootScenarios } from "./boots.ts";
import { fullDiskScenarios } from "./full-disk.ts";
import { oddPlacesScenarios } from "./odd-places.ts";
import { refusedDiskScenarios } from "./refused-disk.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(fullDiskScenarios, refusedDiskScenarios, oddPlacesScenarios, bootScenarios);
