/** Anything but what belongs there where a cursor, the lock, the journal or temporary files would be, also links that lead out. */

import {
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
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

/** What an ADD does beside it: it works, overwriting what is in place of a cursor, or it works or fails. */
type Meets = "works" | "overwrites" | "may fail";

/** What takes the place; `foreign` is a directory of somebody else, with a file, to which links lead. */
const damages: readonly (readonly [
  what: string,
  put: (path: string, foreign: string) => void,
  meets?: Meets,
])[] = [
  ["empty", (path) => writeFileSync(path, ""), "overwrites"],
  ["an address", (path) => writeFileSync(path, "10.0.0.2"), "overwrites"],
  ["garbage", (path) => writeFileSync(path, "a cursor? \u{1f40c}\xff"), "overwrites"],
  ["NULs", (path) => writeFileSync(path, Buffer.alloc(4096)), "overwrites"],
  ["a sparse file of a TiB", putHuge, "overwrites"],
  ["a link to itself", putLoop],
  ["a link to nothing", (path, foreign) => symlinkSync(join(foreign, "none"), path), "works"],
  ["a link to a file", (path, foreign) => symlinkSync(join(foreign, FILE), path), "works"],
  ["a link to a directory", (path, foreign) => symlinkSync(foreign, path), "works"],
  [
    "a link to what stood there",
    (path, foreign) => symlinkSync(join(foreign, MOVED), path),
    "works",
  ],
  ["an empty directory", (path) => mkdirSync(path)],
  ["a directory with a file", putDirectoryWithReservation],
  ["a FIFO", putFifo],
];

/** Old enough to be a killed call's, by its date and by its name. */
const FILE = "1.0";

const MOVED = "moved";

interface Misplaced extends Case {
  readonly place: string;
  readonly put: (path: string, foreign: string) => void;
  readonly meets: Meets;
}

const cases: readonly Misplaced[] = places.flatMap((place) =>
  damages.map(([damage, put, meets = "may fail"]) => ({
    place,
    put,
    meets: meetsAt(place, meets),
    what: `${place} is ${damage}`,
  })),
);

/** Only a cursor is overwritten, and only the lock may keep an ADD from working beside a link. */
function meetsAt(place: string, meets: Meets): Meets {
  if (meets === "overwrites" && !place.includes("last_reserved_ip")) return "may fail";
  return meets === "works" && place === "net/lock" ? "may fail" : meets;
}

async function attempt(trial: Trial, { place, put, meets }: Misplaced): Promise<void> {
  const network = new FaultNetwork(trial);
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  const path = join(network.directory, place);
  mkdirSync(dirname(path), { recursive: true });
  const foreign = join(network.directory, "foreign");
  mkdirSync(foreign);
  writeFileSync(join(foreign, FILE), "10.0.0.3");
  utimesSync(join(foreign, FILE), 1, 1);
  if (existsSync(path)) renameSync(path, join(foreign, MOVED));
  put(path, foreign);
  const before = stateOf(foreign);

  for (const containerId of ["other", "victim"]) await network.mustWork("CHECK", containerId);
  const third =
    meets === "may fail"
      ? await network.mayAdd("third", network.directory)
      : await network.mustWork("ADD", "third");
  if (meets === "overwrites") await network.mustFail("ADD", "fourth", FULL);
  await network.mustRelease("victim");
  // As after a foreign write: the journal is written anew.
  utimesSync(network.path(""), 1, 1);
  await network.do("GC", "", { alive: ["other", "third"] });
  const changes = changesBetween(before, stateOf(foreign));
  trial.verifier.require(changes === "", "escaped", changes);

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
