import { prove } from "./prove.ts";
import { stormScenarios } from "./storm.ts";

prove(stormScenarios);
