/** Symbolic links in the data directory, at every name that a call makes, which lead out of it. */

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
import { ownDirectory, scratchDirectory } from "../../harness/data-directory.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { FaultNetwork } from "./network.ts";
import { type Case, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** What a link leads to; what is there stays as it is. */
const goals = ["nothing", "a file", "a directory", "what stood there"] as const;

interface Planting extends Case {
  /** The link's path in the data directory. */
  readonly path: string;
  readonly goal: (typeof goals)[number];
  /** Whether the network was used before. */
  readonly isInUse: boolean;
}

const own = (path: string): string => join(ownDirectory, path);

const names: readonly string[] = [
  "net/10.0.0.3",
  "net/2001:db8::3",
  "net/last_reserved_ip.0",
  "net/last_reserved_ip.1",
  "net/lock",
  ownDirectory,
  own("net"),
  own("net/journal"),
  own("net/new"),
  own("net/lock"),
];

/** Old enough to be a killed call's, by its date and by its name. */
const OLD_LEFTOVER = "1.0";

/** Makes the link, in a directory beside that of its goals. */
function plant(data: string, outside: string, { path, goal }: Planting): void {
  mkdirSync(join(outside, "directory"), { recursive: true });
  writeFileSync(join(outside, "file"), "precious");
  const leftover = join(outside, "directory", OLD_LEFTOVER);
  writeFileSync(leftover, "precious");
  utimesSync(leftover, 1, 1);
  const link = join(data, path);
  const target = join(outside, goal.replace("a ", ""));
  mkdirSync(dirname(link), { recursive: true });
  if (goal === "what stood there" && existsSync(link)) renameSync(link, target);
  rmSync(link, { recursive: true, force: true });
  symlinkSync(target, link);
}

/** Calls of all kinds beside one link; only the lock is allowed to keep an ADD from working. */
async function attempt(trial: Trial, planting: Planting): Promise<void> {
  const { verifier } = trial;
  const { path, isInUse } = planting;
  const scratch = scratchDirectory(trial);
  const [directory, outside] = [join(scratch, "data"), join(scratch, "outside")];
  mkdirSync(directory);
  const network = new FaultNetwork(trial, { directory });
  if (isInUse) await network.mustWork("ADD", "other");
  plant(directory, outside, planting);
  const before = stateOf(outside);

  if (path === "net/lock") await network.mayAdd("victim", directory);
  else {
    await network.mustWork("ADD", "victim");
    verifier.require(network.heldBy("victim").length === 2, "torn", "not both families");
  }
  await network.mustRelease("victim");
  // As after a foreign write: the journal is written anew.
  if (existsSync(network.path(""))) utimesSync(network.path(""), 1, 1);
  await network.do("GC", "", { alive: ["other"] });
  const harm = changesBetween(before, stateOf(outside));
  verifier.require(harm === "", "escaped", harm);

  rmSync(join(directory, path), { recursive: true, force: true });
  if (!isInUse) await network.mustWork("ADD", "other");
  await network.mustRecover();
}

/** In all but an exhaustive run each name has two goals, in turn. */
function plantings({ extent }: Context): readonly Planting[] {
  const all = names.flatMap((path) =>
    goals.flatMap((goal) =>
      [true, false].map((isInUse) => {
        const where = isInUse ? "network in use" : "new network";
        return { path, goal, isInUse, what: `${path} a link to ${goal}, ${where}` };
      }),
    ),
  );
  const inUse = all.filter(({ isInUse }) => isInUse);
  if (extent !== "exhaustive") return inUse.filter((_, at) => at % 2 === Math.floor(at / 4) % 2);
  return all.filter(({ goal, isInUse }) => isInUse || goal !== "what stood there");
}

export const plantedLinksScenarios: readonly Scenario[] = [
  {
    fault: "symbolic links out of the data directory, at any name that is made there",
    promise:
      "nothing outside is made, changed or removed; ADD and DEL work (ADD may refuse a lock that is a link)",
    attempt: eachOf(plantings, attempt, { atOnce: 4 }),
  },
];
