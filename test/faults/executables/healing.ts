/** Repairs change what other processes may be changing, too: they are made under the lock. */

import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { grantedAddresses } from "../../blackbox/network.ts";
import { holdLock } from "../../harness/held-lock.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { SHORT_TIMEOUT, WatchedNetwork } from "./watched-network.ts";

/** An age at which all debris may be repaired, in seconds. */
const OLD = 100;

/** Seconds after which a call has waited too long, even on a busy machine. */
const LIMIT = 15;

/** The verbs that take the lock. */
const allLocking = ["ADD", "DEL", "GC"] as const;

function putOld(path: string): void {
  writeFileSync(path, "", { mode: 0o600 });
  const then = Date.now() / 1000 - OLD;
  utimesSync(path, then, then);
}

/** A full network with every kind of debris that is repaired. */
async function ailing(context: Context): Promise<WatchedNetwork> {
  const network = new WatchedNetwork(context, { ipam: { lockTimeoutSeconds: SHORT_TIMEOUT } });
  await network.do("ADD", "other");
  mkdirSync(network.ownPath("new"), { recursive: true });
  for (const last of ["3", "4"]) {
    putOld(network.path(`10.0.0.${last}`));
    putOld(network.path(`2001:db8::${last}`));
  }
  putOld(network.ownPath("new/4194303.0"));
  putOld(network.path(".host-local-4194303.0"));
  return network;
}

async function besideHolder(context: Context): Promise<Attempt> {
  const network = await ailing(context);
  const release: (() => void)[] = [];
  await holdLock({ teardown: (free) => release.push(() => free?.()) }, network.directory);
  context.teardown(() => {
    for (const free of release) free();
  });
  const before = stateOf(network.directory);
  const verifier = new Verifier();

  // The Go plugin's GC does nothing, and needs no lock for that.
  const locking = context.subject.name === "Go" ? allLocking.slice(0, 2) : allLocking;
  const waiting = locking.map(
    async (verb) => [verb, await network.begin(verb, "other", LIMIT).ended] as const,
  );
  requireSuccess(verifier, await network.begin("CHECK", "other", LIMIT).ended, "CHECK", "blocked");
  requireSuccess(verifier, await network.begin("STATUS", "", LIMIT).ended, "STATUS", "blocked");
  for (const [verb, ending] of await Promise.all(waiting)) {
    requireFailure(verifier, ending, `${verb} without the lock`, "11", "lockTimeoutSeconds");
  }
  const changes = changesBetween(before, stateOf(network.directory));
  verifier.require(changes === "", "torn", changes);
  return { what: "while another holds the lock", violations: verifier.violations };
}

async function alone(context: Context): Promise<Attempt> {
  const network = await ailing(context);
  const verifier = new Verifier();
  const before = stateOf(network.directory);
  for (const verb of ["CHECK", "STATUS"] as const) {
    requireSuccess(verifier, await network.do(verb, "other"), verb);
  }
  const changes = changesBetween(before, stateOf(network.directory));
  verifier.require(changes === "", "torn", `CHECK and STATUS: ${changes}`);

  const added = await network.do("ADD", "victim");
  requireSuccess(verifier, added, "ADD", "leak");
  return { what: "once the lock is free", violations: verifier.violations };
}

async function manyAtOnce(context: Context): Promise<Attempt> {
  const network = await ailing(context);
  const verifier = new Verifier();
  const calls = Array.from({ length: 6 }, (_, at) =>
    network.begin("ADD", `c${at}`, 4 * LIMIT, { ipam: { lockTimeoutSeconds: 3 * LIMIT } }),
  );
  const endings = await Promise.all(calls.map(({ ended }) => ended));
  const granted = endings.flatMap(grantedAddresses);
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  verifier.require(granted.length === 4, "leak", `of four addresses ${granted.length} are given`);
  for (const [at, ending] of endings.entries()) {
    if (ending.exitCode === 0) continue;
    requireFailure(verifier, ending, "an ADD too many", "no IP addresses available");
    verifier.require(network.heldBy(`c${at}`).length === 0, "kept", "a failed ADD keeps addresses");
  }
  return { what: "by six at once, for two", violations: verifier.violations };
}

export const healingScenarios: readonly Scenario[] = [
  {
    fault:
      "a network full of empty files and leftovers, whose lock is held, free, or wanted by many",
    promise:
      "nothing is reused or removed without the lock, or by CHECK and STATUS; with it, every address is handed out once",
    attempt: (context) => Promise.all([besideHolder(context), alone(context), manyAtOnce(context)]),
  },
];
