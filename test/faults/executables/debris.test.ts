import { debrisScenarios } from "./debris.ts";
import { prove } from "./prove.ts";

prove(debrisScenarios);
