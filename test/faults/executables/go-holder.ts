/** The Go plugin holds the lock and does not release it, or waits for it. */

import { closeSync, constants, openSync, readFileSync, statSync, unlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { grantedAddresses } from "../../blackbox/network.ts";
import { skipWithoutGoPlugin } from "../../harness/go-plugin.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { DualStack, verifyRecovery } from "./dual-stack.ts";
import { putFifo } from "./file-debris.ts";
import { holdAt, resume } from "./lock-holders.ts";
import type { Ending, RunningCall } from "./running-call.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { stopObstacle } from "./stopped-call.ts";
import { knowsStatus, type Subject } from "./subject.ts";
import { goSubject } from "./subjects.ts";
import { SHORT_TIMEOUT, WatchedNetwork } from "./watched-network.ts";

/** Named like an address, but not of a range: the Go plugin opens it, under its lock, and waits for a writer. */
const FIFO = "192.0.2.1";

/** In seconds. */
const LIMIT = 15;

/** How the Go plugin ends. */
type End = "goes on" | "is killed";

/** Starts an ADD by the Go plugin, and waits until it has the lock. */
async function holdByGo(network: WatchedNetwork, go: Subject): Promise<RunningCall> {
  putFifo(network.path(FIFO));
  const holder = network.begin("ADD", "victim", 4 * LIMIT, { subject: go });
  let hasEnded = false;
  holder.ended.finally(() => {
    hasEnded = true;
  });
  while (!hasEnded && !isLocked(network.path("lock"))) await pause(5);
  if (hasEnded) throw new Error("The Go plugin ended though it should have waited for the FIFO.");
  return holder;
}

function isLocked(path: string): boolean {
  return locksOn(path) > 0;
}

/** How many processes hold the lock or wait for it. */
function locksOn(path: string): number {
  const { ino } = statSync(path);
  return readFileSync("/proc/locks", "utf8").split(`:${ino} `).length - 1;
}

async function finish(network: WatchedNetwork, holder: RunningCall, end: End): Promise<Ending> {
  if (end === "is killed") {
    holder.kill();
    await holder.ended;
    unlinkSync(network.path(FIFO));
    return holder.ended;
  }
  // Ends the wait of the holder, which then no longer finds the FIFO.
  const writer = openSync(network.path(FIFO), constants.O_WRONLY | constants.O_NONBLOCK);
  unlinkSync(network.path(FIFO));
  closeSync(writer);
  return holder.ended;
}

async function attemptWith(context: Context, go: Subject, end: End): Promise<Attempt> {
  const network = new WatchedNetwork(context);
  const verifier = new Verifier();
  await network.do("ADD", "other");
  const holder = await holdByGo(network, go);
  const short = { ipam: { lockTimeoutSeconds: SHORT_TIMEOUT } };

  const third = await network.begin("ADD", "third", LIMIT, short).ended;
  requireFailure(verifier, third, "ADD", "11 ", `process ${holder.id} (host-local)`);
  for (const verb of ["CHECK", "STATUS"] as const) {
    if (verb === "STATUS" && !knowsStatus(context.subject)) continue;
    const ending = await network.begin(verb, "other", LIMIT).ended;
    requireSuccess(verifier, ending, verb, "blocked");
  }

  const waiting = network.begin("ADD", "fourth", 2 * LIMIT, {
    ipam: { lockTimeoutSeconds: LIMIT },
  });
  const victim = await finish(network, holder, end);
  const fourth = await waiting.ended;
  if (end === "goes on") {
    requireSuccess(verifier, victim, "the Go plugin's ADD");
    requireSuccess(verifier, fourth, "ADD afterwards", "blocked");
  }
  const granted = [third, victim, fourth].flatMap(grantedAddresses).concat(network.heldBy("other"));
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));

  for (const containerId of ["third", "fourth"]) {
    requireSuccess(verifier, await network.do("DEL", containerId), `DEL ${containerId}`);
  }
  await verifyRecovery(new DualStack(context.subject, network.directory), verifier);
  return { what: `and then ${end}`, violations: verifier.violations };
}

/** A call is stopped while it holds the lock, and the Go plugin comes. */
async function wait(context: Context, go: Subject): Promise<Attempt> {
  const what = "while a call holds the lock";
  const held = await holdAt(context, { verb: "ADD", path: "net/10.0.0.3", nth: 1 });
  if (held === undefined) return { what, violations: [{ kind: "hang", detail: "it never stops" }] };
  const { network } = held;
  const verifier = new Verifier();
  const late = network.begin("ADD", "third", LIMIT, { subject: go });
  let hasEnded = false;
  void late.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && locksOn(network.path("lock")) < 2) await pause(5);
  verifier.require(!hasEnded, "accepted", "the Go plugin did not wait");
  held.holder.goOn();
  requireSuccess(verifier, await late.ended, "the Go plugin's ADD", "blocked");
  await resume(held, verifier);
  return { what, violations: verifier.violations };
}

export const goHolderScenarios: readonly Scenario[] = [
  {
    fault: "the Go plugin holds the lock and hangs",
    promise: "a call fails with code 11 in time and names it; no address is handed out twice",
    obstacle: () => skipWithoutGoPlugin || undefined,
    attempt: async (context) => {
      const go = goSubject;
      if (go === undefined) return [];
      return sideBySide(["goes on", "is killed"] as const, 2, (end) =>
        attemptWith(context, go, end),
      );
    },
  },
  {
    fault: "the Go plugin is called while a call holds the lock",
    promise: "it waits until the lock is released, and is served",
    obstacle: () => skipWithoutGoPlugin || stopObstacle(),
    attempt: async (context) => (goSubject === undefined ? [] : [await wait(context, goSubject)]),
  },
];
