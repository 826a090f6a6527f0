/** A fault at every system call: see every-system-call.ts. */

import { everySystemCallScenarios } from "./every-system-call.ts";
import { prove } from "./prove.ts";

prove(everySystemCallScenarios);
