/** Anything but what belongs there where a cursor, the lock, the journal or temporary files would be. */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { requireDistinct } from "./answers.ts";
import { putDirectoryWithReservation, putFifo, putHuge, putLoop } from "./corrupt-file.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { FaultNetwork, FULL } from "./network.ts";
import { type Case, eachOf, type Scenario, sampleOf, type Trial } from "./scenario.ts";

/** Below the data directory. */
const places = [
  "net/last_reserved_ip.0",
  "net/last_reserved_ip.1",
  "net/lock",
  ".host-local",
  ".host-local/net",
  ".host-local/net/new",
  ".host-local/net/journal",
  ".host-local/net/lock",
];

/** A file of somebody else, to which links lead. */
const FOREIGN = "foreign/file";

/** What takes the place; whether an ADD overwrites it where it is a cursor, and works. */
const damages: readonly (readonly [
  what: string,
  put: (path: string, foreign: string) => void,
  isOverwritten?: "overwritten",
])[] = [
  ["empty", (path) => writeFileSync(path, ""), "overwritten"],
  ["an address", (path) => writeFileSync(path, "10.0.0.2"), "overwritten"],
  ["garbage", (path) => writeFileSync(path, "a cursor? \u{1f40c}\xff"), "overwritten"],
  ["NULs", (path) => writeFileSync(path, Buffer.alloc(4096)), "overwritten"],
  ["a sparse file of a TiB", putHuge, "overwritten"],
  ["a link to nowhere", (path) => symlinkSync("nowhere/at/all", path), "overwritten"],
  ["a link to itself", putLoop],
  ["a link to a file elsewhere", (path, foreign) => symlinkSync(foreign, path)],
  ["a link to a directory", (path, foreign) => symlinkSync(dirname(foreign), path)],
  ["an empty directory", (path) => mkdirSync(path)],
  ["a directory with a file", putDirectoryWithReservation],
  ["a FIFO", putFifo],
];

interface Misplaced extends Case {
  readonly place: string;
  readonly put: (path: string, foreign: string) => void;
  readonly isOverwritten: boolean;
}

const cases: readonly Misplaced[] = places.flatMap((place) =>
  damages.map(([damage, put, overwritten]) => ({
    place,
    put,
    isOverwritten: place.includes("last_reserved_ip") && overwritten !== undefined,
    what: `${place} is ${damage}`,
  })),
);

async function attempt(trial: Trial, { place, put, isOverwritten }: Misplaced): Promise<void> {
  const network = new FaultNetwork(trial);
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  const path = join(network.directory, place);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  const foreign = join(network.directory, FOREIGN);
  mkdirSync(dirname(foreign));
  writeFileSync(foreign, "10.0.0.3");
  put(path, foreign);
  const before = stateOf(dirname(foreign));

  for (const containerId of ["other", "victim"]) await network.mustWork("CHECK", containerId);
  const third = isOverwritten
    ? await network.mustWork("ADD", "third")
    : await network.mayAdd("third", network.directory);
  if (isOverwritten) await network.mustFail("ADD", "fourth", FULL);
  const changes = changesBetween(before, stateOf(dirname(foreign)));
  trial.verifier.require(changes === "", "escaped", changes);
  await network.mustRelease("victim");

  rmSync(path, { recursive: true, force: true });
  const late = await network.mustWork("ADD", "late", "blocked");
  requireDistinct(trial.verifier, [...network.heldBy("other"), ...third, ...late]);
}

export const corruptOwnFileScenarios: readonly Scenario[] = [
  {
    fault:
      "a file, directory, link or FIFO where a cursor, the lock, the journal or temporary files belong",
    promise:
      "CHECK and DEL work; ADD works, or fails at once, says where and keeps nothing; after its removal everything works; nothing is written through a link",
    attempt: eachOf(cases, attempt, { some: sampleOf }),
  },
];
