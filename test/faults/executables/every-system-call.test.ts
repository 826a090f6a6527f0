// test: each executable
/** A fault at every system call: see every-system-call.ts. */

import { everySystemCallScenarios } from "./every-system-call.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(everySystemCallScenarios);
