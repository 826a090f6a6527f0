/** Something else where the executables keep their own files, or where the lock file would be. */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { grantedAddresses } from "../../blackbox/network.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireEnd, requireFailure, requireSuccess } from "./call-requirements.ts";
import { putFifo, putHuge } from "./file-debris.ts";
import { sampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { WatchedNetwork } from "./watched-network.ts";

/** What takes the place, by a name for it. */
const things: readonly (readonly [string, (path: string) => void])[] = [
  ["a file", (path) => writeFileSync(path, "10.0.0.2")],
  ["a sparse file of a TiB", putHuge],
  ["a directory", (path) => mkdirSync(path)],
  ["a link to nowhere", (path) => symlinkSync("nowhere/at/all", path)],
  ["a link to itself", (path) => symlinkSync(path, path)],
  ["a FIFO", putFifo],
];

/** Below the data directory. */
const places = [
  "net/lock",
  ".host-local",
  ".host-local/net",
  ".host-local/net/new",
  ".host-local/net/journal",
  ".host-local/net/owners",
  ".host-local/net/stamp",
  ".host-local/net/lock",
  ".host-local/net/lock.holder",
];

interface Case {
  readonly place: string;
  readonly thing: string;
  readonly put: (path: string) => void;
}

const cases: readonly Case[] = places.flatMap((place) =>
  things.map(([thing, put]) => ({ place, thing, put })),
);

async function attemptWith(context: Context, { place, thing, put }: Case): Promise<Attempt> {
  const network = new WatchedNetwork(context);
  const verifier = new Verifier();
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  const path = `${network.directory}/${place}`;
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  put(path);

  for (const containerId of ["other", "victim"]) {
    requireSuccess(verifier, await network.do("CHECK", containerId), `CHECK ${containerId}`);
  }
  const added = await network.do("ADD", "third");
  if (requireEnd(verifier, added, "ADD") && added.exitCode !== 0) {
    requireFailure(verifier, added, "ADD", network.directory);
    verifier.require(network.heldBy("third").length === 0, "kept", "a failed ADD keeps addresses");
  }
  requireSuccess(verifier, await network.do("DEL", "victim"), "DEL");
  const left = network.heldBy("victim").join(" ");
  verifier.require(left === "", "leak", `DEL leaves ${left}`);

  rmSync(path, { recursive: true, force: true });
  const late = await network.do("ADD", "late");
  requireSuccess(verifier, late, "ADD without the debris", "blocked");
  const granted = [
    ...network.heldBy("other"),
    ...grantedAddresses(added),
    ...grantedAddresses(late),
  ];
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  return { what: `${place} is ${thing}`, violations: verifier.violations };
}

export const ownFileDebrisScenarios: readonly Scenario[] = [
  {
    fault: "a file, directory, link or FIFO where the lock, the journal or temporary files belong",
    promise:
      "CHECK and DEL work; ADD works, or fails at once, says where and keeps nothing; after its removal everything works",
    attempt: (context) =>
      sideBySide(sampleOf(context, cases), 3, (one) => attemptWith(context, one)),
  },
];
