// test: each executable, one if short, slow
import { corruptJournalScenarios } from "./corrupt-journals.ts";
import { corruptOwnFileScenarios } from "./corrupt-own-files.ts";
import { corruptReservationScenarios } from "./corrupt-reservations.ts";
import { leftoverScenarios } from "./leftovers.ts";
import { repairScenarios } from "./repairs.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(
  corruptReservationScenarios,
  corruptJournalScenarios,
  corruptOwnFileScenarios,
  leftoverScenarios,
  repairScenarios,
);
