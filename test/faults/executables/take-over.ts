/** The Go plugin and the executable under test serve the same containers by turns, on file systems that hide writes. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { skipWithoutGoPlugin } from "../../harness/go-plugin.ts";
import { Mounts } from "../../harness/mounts.ts";
import { lacking } from "../../harness/needs.ts";
import { randomFrom } from "../../harness/random.ts";
import { fileSystemObstacle, fileSystems, makeImage } from "./file-systems.ts";
import { FaultNetwork, oneRange } from "./network.ts";
import { allOf, type Case, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";
import { goSubject } from "./subject.ts";

/** The containers; there are few, so that the same are added and deleted again within moments. */
const containerIds = ["c0", "c1", "c2"];

const verbs = ["ADD", "ADD", "DEL", "DEL", "CHECK"] as const;

/** How many calls a run makes. */
function stepsOf({ subject, extent }: Context): number {
  const most = { short: 24, full: 120, exhaustive: 1200 }[extent];
  return subject.name === "portable" ? most / 2 : most;
}

/** The same data directory, as each of the two plugins sees it. */
interface Views extends Case {
  readonly ours: string;
  readonly go: string;
}

/** Makes calls by turns; each answer is known beforehand. */
async function takeTurns(trial: Trial, views: Views): Promise<void> {
  const { seed, subject, verifier } = trial;
  const ours = new FaultNetwork(trial, { ipam: oneRange, directory: views.ours });
  const go = new FaultNetwork(
    { ...trial, subject: goSubject ?? subject },
    { ipam: oneRange, directory: views.go },
  );
  const random = randomFrom(seed);
  const held = new Set<string>();
  for (let step = 0; step < stepsOf(trial) && verifier.violations.length === 0; step++) {
    const id = random.pick(containerIds);
    const isHeld = held.has(id);
    const verb = random.pick(verbs);
    // A second ADD by the Go plugin would free the addresses of the first one.
    const network = random.integer(2) === 0 || (verb === "ADD" && isHeld) ? ours : go;
    if (verb === "DEL" || isHeld === (verb === "CHECK")) {
      await network.mustWork(verb, id);
      if (verb === "ADD") held.add(id);
      if (verb === "DEL") held.delete(id);
    } else await network.mustFail(verb, id);
    const left = go.heldBy(id).length;
    const isRight = left === (held.has(id) ? 1 : 0);
    const what = `step ${step}: ${verb} ${id} by ${network.subject.name}`;
    verifier.require(isRight, "leak", `${what}: it holds ${left}`);
  }
  await ours.mustRelease(...containerIds);
  go.mustBeEmpty();
}

async function onSeconds({ teardown }: Context): Promise<readonly Views[]> {
  const mounts = await Mounts.open(teardown);
  const image = join(scratchDirectory({ teardown }), "image");
  makeImage(image, fileSystems.ext4OfSeconds);
  const disk = mounts.image("disk", image);
  return [{ what: "times of whole seconds", ours: disk, go: disk }];
}

/** How long the kernel caches answers of the file system, in seconds. */
const CACHED = 60;

/** Programs that show a directory at another place, with such a cache. Not all of them keep every time that is set. */
const caches = {
  mergerfs: ["mergerfs", "-o", `cache.attr=${CACHED},cache.entry=${CACHED}`],
  bindfs: ["bindfs", "-o", `attr_timeout=${CACHED},entry_timeout=${CACHED}`],
} as const;

async function throughCache(
  { teardown }: Context,
  name: keyof typeof caches,
): Promise<readonly Views[]> {
  const mounts = await Mounts.open(teardown);
  for (const place of ["backing", "cached"]) mkdirSync(mounts.at(place));
  mounts.run([...caches[name], mounts.within("backing"), mounts.within("cached")]);
  // The program's process keeps the namespace alive, so it must end first.
  teardown(() => mounts.unmount("cached"));
  const what = `attributes and names cached for ${CACHED} s`;
  return [{ what, ours: mounts.at("cached"), go: mounts.at("backing") }];
}

function cacheObstacle(name: keyof typeof caches): string | undefined {
  if (spawnSync(name, ["--version"]).error !== undefined) return `${name} is not installed.`;
  const fuse = existsSync("/dev/fuse") ? undefined : "The kernel of this machine has no FUSE.";
  return fuse ?? (lacking("mounts") || undefined);
}

/** Takes turns on each of these views; the Go plugin alone would be no change. */
function onEach(views: (context: Context) => Promise<readonly Views[]>): Scenario["attempt"] {
  return eachOf(
    async (context) => (context.subject.name === "Go" ? [] : views(context)),
    takeTurns,
    { some: allOf },
  );
}

const promise = "each call finds what the one before has left. Nothing is left after the DELs";

export const takeOverScenarios: readonly Scenario[] = [
  {
    fault: "the Go plugin and this one by turns, where the file system keeps whole seconds only",
    promise,
    obstacle: () => skipWithoutGoPlugin || fileSystemObstacle(fileSystems.ext4OfSeconds),
    attempt: onEach(onSeconds),
  },
  ...(["mergerfs", "bindfs"] as const).map((name) => ({
    fault: `the same where this one sees the disk through a file system that caches (FUSE, ${name})`,
    promise,
    obstacle: () => skipWithoutGoPlugin || cacheObstacle(name),
    attempt: onEach((context) => throughCache(context, name)),
  })),
];
