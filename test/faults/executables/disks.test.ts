// test: each executable, one if short, portable in short, slow, sees the node, mounts, acts as others
import { fullDiskScenarios } from "./full-disk.ts";
import { placeScenarios } from "./places.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(fullDiskScenarios, placeScenarios);
