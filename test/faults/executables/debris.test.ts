// test: each executable, one if short
import { debrisScenarios } from "./debris.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(debrisScenarios);
