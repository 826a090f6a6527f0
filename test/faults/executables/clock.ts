/** The clock is set back or forward between calls, so that files have dates in the future or long ago. */

import { lstatSync, lutimesSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { sample } from "../../harness/sample.ts";
import { meet } from "./lock-holders.ts";
import { FaultNetwork, FULL } from "./network.ts";
import { allOf, type Case, eachOf, type Scenario, type Trial } from "./scenario.ts";
import { atTheFirst, stopObstacle, whileStopped } from "./stopped-call.ts";

/** By how many seconds. */
interface Step extends Case {
  readonly seconds: number;
}

const steps: readonly Step[] = [
  { what: "back by a day", seconds: -86_400 },
  { what: "back by an hour", seconds: -3600 },
  { what: "back by three seconds", seconds: -3 },
  { what: "forward by three seconds", seconds: 3 },
  { what: "forward by an hour", seconds: 3600 },
  { what: "forward by a day", seconds: 86_400 },
];

/** Dates everything as it would look after the step: of the future where the clock went back. */
function dateAll(path: string, seconds: number): void {
  const found = lstatSync(path);
  if (found.isDirectory()) {
    for (const name of readdirSync(path)) dateAll(join(path, name), seconds);
  }
  const then = found.mtimeMs / 1000 - seconds;
  lutimesSync(path, then, then);
}

async function between(trial: Trial, { seconds }: Step): Promise<void> {
  const network = new FaultNetwork(trial);
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  dateAll(network.directory, seconds);

  await network.mustWork("ADD", "third", "blocked");
  for (const containerId of ["other", "victim", "third"]) {
    await network.mustWork("CHECK", containerId);
  }
  await network.mustFail("CHECK", "nobody", "nobody");
  dateAll(network.directory, -seconds);
  await network.mustFail("ADD", "fourth", FULL);
  dateAll(network.directory, seconds);
  await network.mustRecover("third");
}

function whileHeld(trial: Trial, { seconds }: Step) {
  return whileStopped(trial, atTheFirst, async (held) => {
    dateAll(held.network.directory, seconds);
    await meet(trial, held, held.network.begin("ADD", "third"));
  });
}

export const clockScenarios: readonly Scenario[] = [
  {
    fault: "the clock is set back or forward between calls, and while one holds the lock",
    promise: "no call waits longer for that, no address is handed out twice or lost",
    obstacle: stopObstacle,
    attempt: eachOf(
      ({ extent, seed }) =>
        sample(steps, { short: 6, full: 3, exhaustive: 1 }[extent], seed).flatMap((step) => [
          { ...step, attempt: between },
          { ...step, what: `${step.what}, while a call holds the lock`, attempt: whileHeld },
        ]),
      (trial, { attempt, ...step }) => attempt(trial, step),
      { atOnce: 4, some: allOf },
    ),
  },
];
