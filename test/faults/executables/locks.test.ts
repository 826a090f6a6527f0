// test: each executable, Go plugin
import { lockScenarios } from "./locks.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(lockScenarios);
