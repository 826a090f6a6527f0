import { hostileInputScenarios } from "./hostile-input.ts";
import { prove } from "./prove.ts";

prove(hostileInputScenarios);
