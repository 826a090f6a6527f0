// test: each executable
import { permissionScenarios } from "./permissions.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(permissionScenarios);
