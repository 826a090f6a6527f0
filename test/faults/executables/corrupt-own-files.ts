/** Something else where the executables keep their own files, or where the lock file would be. */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { requireDistinct } from "./answers.ts";
import { putFifo, putHuge } from "./corrupt-file.ts";
import { FaultNetwork } from "./network.ts";
import { type Case, eachOf, type Scenario, sampleOf, type Trial } from "./scenario.ts";

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
  ".host-local/net/lock",
];

interface Misplaced extends Case {
  readonly place: string;
  readonly put: (path: string) => void;
}

const cases: readonly Misplaced[] = places.flatMap((place) =>
  things.map(([thing, put]) => ({ place, put, what: `${place} is ${thing}` })),
);

async function attempt(trial: Trial, { place, put }: Misplaced): Promise<void> {
  const network = new FaultNetwork(trial);
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  const path = `${network.directory}/${place}`;
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  put(path);

  for (const containerId of ["other", "victim"]) await network.mustWork("CHECK", containerId);
  const third = await network.mayAdd("third", network.directory);
  await network.mustRelease("victim");

  rmSync(path, { recursive: true, force: true });
  const late = await network.mustWork("ADD", "late", "blocked");
  requireDistinct(trial.verifier, [...network.heldBy("other"), ...third, ...late]);
}

export const corruptOwnFileScenarios: readonly Scenario[] = [
  {
    fault: "a file, directory, link or FIFO where the lock, the journal or temporary files belong",
    promise:
      "CHECK and DEL work; ADD works, or fails at once, says where and keeps nothing; after its removal everything works",
    attempt: eachOf(cases, attempt, { some: sampleOf }),
  },
];
