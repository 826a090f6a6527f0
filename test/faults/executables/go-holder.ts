/** The Go plugin holds the lock and does not release it, or waits for it. */

import { readFileSync, statSync, unlinkSync } from "node:fs";
import { skipWithoutGoPlugin } from "../../harness/go-plugin.ts";
import { grantedAddresses } from "../../harness/network.ts";
import { requireDistinct, requireFailure, requireSuccess } from "./answers.ts";
import { putFifo } from "./corrupt-file.ts";
import { FaultNetwork, HASTY } from "./network.ts";
import type { RunningCall } from "./running-call.ts";
import { allOf, eachOf, type Scenario, type Trial } from "./scenario.ts";
import { atTheFirst, resume, stopObstacle, whileStopped } from "./stopped-call.ts";
import { goSubject, knowsStatus, type Subject } from "./subject.ts";

/**
 * A FIFO that is named like an address outside of the range: the Go plugin opens it, under its lock, and waits for a writer.
 */
const FIFO = "192.0.2.1";

/** The time limit of a call, in seconds. */
const LIMIT = 60;

/** Starts an ADD by the Go plugin, and waits until it has the lock. */
async function holdByGo(network: FaultNetwork, go: Subject): Promise<RunningCall> {
  putFifo(network.path(FIFO));
  const holder = network.begin("ADD", "victim", { subject: go, limit: LIMIT });
  const { ino } = statSync(network.path("lock"));
  const holds = (): boolean => readFileSync("/proc/locks", "utf8").includes(`:${ino} `);
  if (await holder.goesOnUntil("the Go plugin has the lock", holds)) return holder;
  throw new Error("The Go plugin ended though it should have waited for the FIFO.");
}

async function hang(trial: Trial, go: Subject): Promise<void> {
  const { subject, verifier } = trial;
  const network = new FaultNetwork(trial);
  await network.do("ADD", "other");
  const holder = await holdByGo(network, go);

  const third = await network.begin("ADD", "third", HASTY).ended;
  requireFailure(verifier, third, "ADD", "11 ", `process ${holder.id} (host-local)`);
  await network.mustWork("CHECK", "other", "blocked");
  if (knowsStatus(subject)) await network.mustWork("STATUS", "", "blocked");

  const waiting = network.begin("ADD", "fourth", { ipam: { lockTimeoutSeconds: LIMIT } });
  holder.kill();
  await holder.ended;
  unlinkSync(network.path(FIFO));
  const fourth = await waiting.ended;
  if (subject.name !== "Go") requireSuccess(verifier, fourth, "ADD afterwards", "blocked");
  requireDistinct(verifier, [...grantedAddresses(fourth), ...network.heldBy("other")]);
  await network.mustRelease("fourth");
  await network.mustRecover();
}

/** Stops a call while it holds the lock, and lets the Go plugin come for it. */
function wait(trial: Trial, go: Subject) {
  const { verifier } = trial;
  return whileStopped(trial, atTheFirst, async (held) => {
    const late = held.network.begin("ADD", "third", { subject: go, limit: LIMIT });
    const waits = await late.awaitsLock();
    verifier.require(waits, "accepted", "the Go plugin did not wait");
    held.holder.goOn();
    requireSuccess(verifier, await late.ended, "the Go plugin's ADD", "blocked");
    await resume(trial, held);
  });
}

/** The Go plugin; the scenarios are skipped if there is none. */
function theGoPlugin(): Subject {
  if (goSubject === undefined) throw new Error("There is no Go plugin here.");
  return goSubject;
}

export const goHolderScenarios: readonly Scenario[] = [
  {
    fault: "the Go plugin holds the lock and hangs",
    promise: "a call fails with code 11 in time and names it. No address is handed out twice",
    obstacle: () => skipWithoutGoPlugin || undefined,
    attempt: eachOf([{ what: "until it is killed" }], (trial) => hang(trial, theGoPlugin()), {
      some: allOf,
    }),
  },
  {
    fault: "the Go plugin is called while a call holds the lock",
    promise: "it waits until the lock is released, and is served",
    obstacle: () => skipWithoutGoPlugin || stopObstacle(),
    attempt: eachOf(
      [{ what: "while a call holds the lock" }],
      (trial) => wait(trial, theGoPlugin()),
      { some: allOf },
    ),
  },
];
