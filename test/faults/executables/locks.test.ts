import { lockScenarios } from "./locks.ts";
import { prove } from "./prove.ts";

prove(lockScenarios);
