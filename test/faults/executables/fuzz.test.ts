import { fuzzScenarios } from "./fuzz.ts";
import { prove } from "./prove.ts";

prove(fuzzScenarios);
