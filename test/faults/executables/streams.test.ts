import { prove } from "./prove.ts";
import { streamsScenarios } from "./streams.ts";

prove(streamsScenarios);
