import { permissionScenarios } from "./permissions.ts";
import { prove } from "./prove.ts";

prove(permissionScenarios);
