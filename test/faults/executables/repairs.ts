/** Repairs change what other processes may be changing, too: they are made under the lock. */

import { mkdirSync } from "node:fs";
import { holdLock } from "../../harness/held-lock.ts";
import { grantedAddresses } from "../../harness/network.ts";
import { requireDistinct, requireFailure, requireSuccess } from "./answers.ts";
import { putDated } from "./corrupt-file.ts";
import { FaultNetwork, FULL, HASTY } from "./network.ts";
import { allOf, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** An age at which everything may be repaired, in seconds. */
const OLD = 100;

/** Time for six calls one after the other, in seconds. */
const LIMIT = 60;

/** The verbs that take the lock. */
const allLocking = ["ADD", "DEL", "GC"] as const;

/** A full network with every kind of file that is repaired. */
async function ailing(trial: Trial, ipam = {}): Promise<FaultNetwork> {
  const network = new FaultNetwork(trial, { ipam });
  await network.do("ADD", "other");
  mkdirSync(network.ownPath("new"), { recursive: true });
  for (const last of ["3", "4"]) {
    putDated(network.path(`10.0.0.${last}`), "", OLD);
    putDated(network.path(`2001:db8::${last}`), "", OLD);
  }
  putDated(network.ownPath("new/4194303-0"), "", OLD);
  putDated(network.path(".host-local-4194303-0"), "", OLD);
  return network;
}

async function besideHolder(trial: Trial): Promise<void> {
  const { subject, verifier } = trial;
  const network = await ailing(trial);
  await holdLock(trial, network.directory);
  await network.mustNotChange("without the lock", async () => {
    // The Go plugin's GC does nothing, and needs no lock for that.
    const locking = subject.name === "Go" ? allLocking.slice(0, 2) : allLocking;
    const waiting = locking.map((verb) => ({ verb, call: network.begin(verb, "other", HASTY) }));
    await network.mustWork("CHECK", "other", "blocked");
    await network.mustWork("STATUS", "", "blocked");
    for (const { verb, call } of waiting) {
      const words = ["11 ", "lockTimeoutSeconds"];
      requireFailure(verifier, await call.ended, `${verb} without the lock`, ...words);
    }
  });
}

async function alone(trial: Trial): Promise<void> {
  const network = await ailing(trial);
  await network.mustNotChange("CHECK and STATUS", async () => {
    await network.mustWork("CHECK", "other");
    await network.mustWork("STATUS");
  });
  await network.mustWork("ADD", "victim", "leak");
}

async function manyAtOnce(trial: Trial): Promise<void> {
  const { verifier } = trial;
  const network = await ailing(trial, { lockTimeoutSeconds: LIMIT });
  const calls = Array.from({ length: 6 }, (_, at) =>
    network.begin("ADD", `c${at}`, { limit: 2 * LIMIT }),
  );
  const endings = await Promise.all(calls.map(({ ended }) => ended));
  const granted = endings.flatMap(grantedAddresses);
  requireDistinct(verifier, granted);
  verifier.require(granted.length === 4, "leak", `of four addresses ${granted.length} are given`);
  for (const [at, ending] of endings.entries()) {
    if (ending.exitCode === 0) requireSuccess(verifier, ending, "ADD");
    else {
      requireFailure(verifier, ending, "an ADD too many", FULL);
      network.mustHoldNothing("kept", `c${at}`);
    }
  }
}

export const repairScenarios: readonly Scenario[] = [
  {
    fault:
      "a network full of empty files and leftovers, whose lock is held, free, or wanted by many",
    promise:
      "nothing is reused or removed without the lock, or by CHECK and STATUS; with it, every address is handed out once",
    attempt: eachOf(
      [
        { what: "while another holds the lock", attempt: besideHolder },
        { what: "once the lock is free", attempt: alone },
        { what: "by six at once, for two", attempt: manyAtOnce },
      ],
      (trial, { attempt }) => attempt(trial),
      { some: allOf },
    ),
  },
];
