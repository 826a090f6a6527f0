/** The clock is set back or forward between calls, so that files have dates in the future or long ago. */

import { lstatSync, lutimesSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { grantedAddresses } from "../../blackbox/network.ts";
import { sample } from "../../harness/sample.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { holdAt, requireNormality } from "./lock-holders.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { stopObstacle } from "./stopped-call.ts";
import { LOCK_TIMEOUT, SETTLED } from "./subject.ts";
import { WatchedNetwork } from "./watched-network.ts";

/** By how much, in seconds, and in words. */
type Step = readonly [seconds: number, words: string];

const steps: readonly Step[] = [
  [-86_400, "back by a day"],
  [-3600, "back by an hour"],
  [-3, "back by three seconds"],
  [3, "forward by three seconds"],
  [3600, "forward by an hour"],
  [86_400, "forward by a day"],
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

async function between(context: Context, [seconds, words]: Step): Promise<Attempt> {
  const network = new WatchedNetwork(context);
  const verifier = new Verifier();
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  dateAll(network.directory, seconds);

  const third = await network.do("ADD", "third");
  requireSuccess(verifier, third, "ADD", "blocked");
  for (const containerId of ["other", "victim", "third"]) {
    requireSuccess(verifier, await network.do("CHECK", containerId), `CHECK ${containerId}`);
  }
  requireFailure(verifier, await network.do("CHECK", "nobody"), "CHECK of none", "nobody");
  dateAll(network.directory, -seconds);
  requireFailure(verifier, await network.do("ADD", "fourth"), "ADD beyond", "no IP addresses");
  dateAll(network.directory, seconds);
  await requireNormality(network, verifier);
  return { what: words, violations: verifier.violations };
}

async function whileHeld(context: Context, [seconds, words]: Step): Promise<Attempt> {
  const what = `${words}, while a call holds the lock`;
  const held = await holdAt(context, { verb: "ADD", path: "net/10.0.0.3", nth: 1 });
  if (held === undefined) return { what, violations: [{ kind: "hang", detail: "it never stops" }] };
  const { network, holder } = held;
  const verifier = new Verifier();
  dateAll(network.directory, seconds);
  const waiting = network.begin("ADD", "third", 4 * LOCK_TIMEOUT);
  const early = await Promise.race([waiting.ended, pause(SETTLED, undefined)]);
  holder.goOn();
  const victim = await holder.ended;
  const third = early ?? (await waiting.ended);
  requireSuccess(verifier, victim, "the holder");
  requireSuccess(verifier, third, "the other ADD", "blocked");
  const granted = [victim, third].flatMap(grantedAddresses).concat(network.heldBy("other"));
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  await requireNormality(network, verifier);
  return { what, violations: verifier.violations };
}

export const clockScenarios: readonly Scenario[] = [
  {
    fault: "the clock is set back or forward between calls, and while one holds the lock",
    promise: "no call waits longer for that, no address is handed out twice or lost",
    obstacle: stopObstacle,
    attempt: async (context) => {
      const oneIn = { short: 6, full: 3, exhaustive: 1 }[context.extent];
      const some = sample(steps, oneIn, context.seed).flatMap((step) => [
        () => between(context, step),
        () => whileHeld(context, step),
      ]);
      return sideBySide(some, 4, (attempt) => attempt());
    },
  },
];
