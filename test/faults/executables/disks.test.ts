import { diskScenarios } from "./disks.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(diskScenarios);
