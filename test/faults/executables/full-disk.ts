/** A disk that is full, or has no inodes left: a file system in memory, filled to the last page. */

import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Mounts } from "../../harness/mounts.ts";
import { lacking } from "../../harness/needs.ts";
import { requireFailure } from "./answers.ts";
import { FaultNetwork } from "./network.ts";
import { type Case, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** Fills a file system up to `count` free units, and returns the function that frees them again. */
type Leave = (disk: string, count: number) => () => void;

const DISK = "size=128k,nr_inodes=100";

const CAUSE = "no space left on device";

/** The number of pages or inodes that is enough for one ADD into an empty directory. */
const ENOUGH = 18;

/** How often a failed ADD is repeated, as a runtime does, to see what each one leaves behind. */
const REPETITIONS = 3;

const leavePages: Leave = (disk, count) => {
  const { bfree, bsize } = statfsSync(disk);
  const filler = join(disk, "filler");
  writeFileSync(filler, Buffer.alloc((bfree - count) * bsize));
  return () => rmSync(filler);
};

const leaveInodes: Leave = (disk, count) => {
  const filler = join(disk, "filler");
  mkdirSync(filler);
  for (let at = statfsSync(disk).ffree; at > count; at--) writeFileSync(join(filler, `${at}`), "");
  return () => rmSync(filler, { recursive: true });
};

/** A case with a disk of its own. */
interface OnDisk extends Case {
  readonly disk: string;
}

/** A case with little space left, in a network that is in use or was never used. */
interface Nearly extends OnDisk {
  readonly left: number;
  readonly isInUse: boolean;
}

async function add(trial: Trial, leave: Leave, { disk, left, isInUse }: Nearly): Promise<void> {
  const { verifier } = trial;
  const network = new FaultNetwork(trial, { directory: join(disk, "data") });
  if (isInUse) await network.mustWork("ADD", "other");
  const before = network.reserved().length;
  const makeRoom = leave(disk, left);
  const ending = await network.do("ADD", "victim");
  if (ending.exitCode === 0) {
    verifier.require(network.heldBy("victim").length === 2, "torn", "not both families");
  } else {
    verifier.require(left < ENOUGH, "refused", `there is room enough: ${ending.stdout}`);
    requireFailure(verifier, ending, "ADD", network.directory, CAUSE);
    const names = network.reserved();
    verifier.require(names.length === before, "kept", `after the ADD: ${names.join(" ")}`);
    await repeat(trial, network);
  }
  makeRoom();
  if (!isInUse) await network.mustWork("ADD", "other");
  await network.mustRecover();
}

/** Repeats a failing ADD, which must leave no more behind than the first time. */
async function repeat({ verifier }: Trial, network: FaultNetwork): Promise<void> {
  const left = entriesBelow(network.directory);
  for (let i = 0; i < REPETITIONS; i++) await network.do("ADD", "victim");
  if (network.heldBy("victim").length > 0) return;
  const later = entriesBelow(network.directory);
  const grown = later.filter((path) => !left.includes(path)).join(" ");
  verifier.require(later.length <= left.length, "leak", `failed ADDs leave more: ${grown}`);
}

function entriesBelow(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}

/** The calls that release; GC does so if it sees that the victim is dead. */
function releases(): readonly Case[] {
  return [{ what: "DEL" }, ...(lacking("sees the node") === false ? [{ what: "GC" }] : [])];
}

/** Makes a CHECK, then a release, with no space left. */
async function release(trial: Trial, leave: Leave, { what, disk }: OnDisk): Promise<void> {
  const network = new FaultNetwork(trial, { directory: join(disk, "data") });
  await network.mustWork("ADD", "other");
  await network.mustWork("ADD", "victim");
  const makeRoom = leave(disk, 0);
  await network.mustWork("CHECK", "victim");
  if (what === "DEL") await network.mustRelease("victim");
  else await network.mustCollect("other");
  network.mustHoldNothing("leak", "victim");
  network.mustHold("other", ["198.51.100.2", "2001:db8::2"]);
  makeRoom();
  await network.mustRecover();
}

/** Gives each case a file system in memory. */
async function onDisks<C extends Case>(
  { teardown }: Context,
  cases: readonly C[],
): Promise<readonly (C & OnDisk)[]> {
  const mounts = await Mounts.open(teardown);
  return cases.map((row, at) => ({ ...row, disk: mounts.memory(String(at), DISK) }));
}

function amounts({ extent }: Context, of: string): readonly Omit<Nearly, "disk">[] {
  const all = Array.from({ length: ENOUGH + 1 }, (_, at) => at);
  return [true, false].flatMap((isInUse) =>
    (extent === "exhaustive" ? all : [0, 1, 2, 6, ENOUGH]).map((left) => ({
      what: `ADD with ${left} ${of} left, ${isInUse ? "network in use" : "new network"}`,
      left,
      isInUse,
    })),
  );
}

const shortages = [
  { of: "pages", words: "disk full", leave: leavePages },
  { of: "inodes", words: "disk out of inodes", leave: leaveInodes },
] as const;

export const fullDiskScenarios: readonly Scenario[] = shortages.flatMap(({ of, words, leave }) => [
  {
    fault: `${words}, or nearly`,
    promise:
      "an ADD gets both families, or fails with path and cause and keeps neither. Each further failure leaves no more",
    obstacle: () => lacking("mounts") || undefined,
    attempt: eachOf(
      (context) => onDisks(context, amounts(context, of)),
      (trial, row) => add(trial, leave, row),
      { atOnce: 4 },
    ),
  },
  {
    fault: words,
    promise: "DEL and GC free, CHECK answers",
    obstacle: () => lacking("mounts") || undefined,
    attempt: eachOf(
      (context) => onDisks(context, releases()),
      (trial, row) => release(trial, leave, row),
    ),
  },
]);
