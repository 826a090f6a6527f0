import { diskScenarios } from "./disks.ts";
import { prove } from "./prove.ts";

prove(diskScenarios);
