/** The machine starts again, and nobody deletes what was attached before; or two machines share a directory. */

import { existsSync } from "node:fs";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { FaultNetwork, FULL, oneRange, ROOM } from "./network.ts";
import { allOf, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** How often the machine starts. */
const STARTS = 3;

/** Without it nothing is noted, and with one of the test's own nothing depends on the machine. */
const machineIds = ["0123456789abcdef".repeat(2), "fedcba9876543210".repeat(2)] as const;

/** A network on a machine that has just started. */
async function started(trial: Trial, directory: string, machineId: string): Promise<FaultNetwork> {
  const { entry } = await Mounts.openOnMachine(trial.teardown, machineId);
  return new FaultNetwork(trial, { ipam: oneRange, directory, under: entry });
}

async function startAgain(trial: Trial): Promise<void> {
  const directory = scratchDirectory(trial);
  for (let boot = 0; boot < STARTS; boot++) {
    const network = await started(trial, directory, machineIds[0]);
    const held = await network.fill(`b${boot}`, ROOM);
    // What comes too late frees nothing of a successor.
    for (let at = 0; at < 3; at++) await network.do("DEL", `b${boot - 1}-${at}`);
    for (const [containerId, addresses] of held) network.mustHold(containerId, addresses);
  }
}

async function shareDirectory(trial: Trial): Promise<void> {
  const directory = scratchDirectory(trial);
  const first = await started(trial, directory, machineIds[0]);
  await first.mustWork("ADD", "a");
  const second = await started(trial, directory, machineIds[1]);
  for (let at = 2; at < ROOM; at++) await second.mustWork("ADD", `b-${at}`);
  await first.mustWork("ADD", "last");
  for (const machineId of machineIds) {
    const again = await started(trial, directory, machineId);
    await again.mustFail("ADD", "beyond", FULL);
  }
}

/** Why no other boot and machine can be put in place here. */
export function bootObstacle(): string | undefined {
  return existsSync("/etc/machine-id")
    ? mountObstacle()
    : "There is no /etc/machine-id to replace.";
}

export const bootScenarios: readonly Scenario[] = [
  {
    fault: "the machine starts again with a full range, and no DEL comes",
    promise: "every address can be handed out again, once; a late DEL frees nothing of another's",
    obstacle: bootObstacle,
    attempt: eachOf([{ what: `${STARTS} starts, each with a full range` }], startAgain, {
      some: allOf,
    }),
  },
  {
    fault: "two machines share a data directory, and start again",
    promise: "neither takes an address of the other",
    obstacle: bootObstacle,
    attempt: eachOf([{ what: "two machines, which start again" }], shareDirectory, {
      some: allOf,
    }),
  },
];
