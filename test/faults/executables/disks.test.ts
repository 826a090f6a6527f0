// test: each executable, one if short
import { diskScenarios } from "./disks.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(diskScenarios);
