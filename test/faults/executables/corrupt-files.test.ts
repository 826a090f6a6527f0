// test: each executable, one if short, portable in short, slow, sees the node, acts as others
import { corruptFileScenarios } from "./corrupt-files.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(corruptFileScenarios);
