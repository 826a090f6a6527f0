/** The Go plugin and the executable under test serve the same containers by turns, on file systems that hide writes. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { skipWithoutGoPlugin } from "../../harness/go-plugin.ts";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { type Random, randomFrom } from "../../harness/random.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { fileSystemObstacle, fileSystems, makeImage } from "./file-systems.ts";
import { deleteAll, ipam } from "./room.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { goSubject } from "./subjects.ts";
import { WatchedNetwork } from "./watched-network.ts";

/** Few, so that the same are added and deleted again within moments. */
const containerIds = ["c0", "c1", "c2"];

/** How many calls. */
function stepsOf({ subject, extent }: Context): number {
  const most = { short: 24, full: 120, exhaustive: 1200 }[extent];
  return subject.name === "portable" ? most / 2 : most;
}

/** The same data directory, as each of the two sees it. */
interface Views {
  readonly ours: WatchedNetwork;
  readonly go: WatchedNetwork;
}

/** Calls by turns; each answer is known beforehand. */
async function takeTurns(context: Context, { ours, go }: Views, verifier: Verifier): Promise<void> {
  const random = randomFrom(context.seed);
  const held = new Set<string>();
  for (let step = 0; step < stepsOf(context); step++) {
    const id = random.pick(containerIds);
    const isHeld = held.has(id);
    const verb = verbFor(random, isHeld);
    // A second ADD by the Go plugin would free what the first one got.
    const network = random.integer(2) === 0 || (verb === "ADD" && isHeld) ? ours : go;
    const what = `step ${step}: ${verb} ${id} by ${network.subject.name}`;
    const ending = await network.do(verb, id);
    if (verb === "DEL" || isHeld === (verb === "CHECK")) {
      requireSuccess(verifier, ending, what);
      if (verb === "ADD") held.add(id);
      if (verb === "DEL") held.delete(id);
    } else {
      requireFailure(verifier, ending, what);
    }
    const left = go.heldBy(id).length;
    verifier.require(left === (held.has(id) ? 1 : 0), "leak", `${what}: it holds ${left}`);
    if (verifier.violations.length > 0) return;
  }
}

function verbFor(random: Random, isHeld: boolean): "ADD" | "DEL" | "CHECK" {
  const choice = random.integer(8);
  if (choice === 0) return "CHECK";
  if (choice === 1) return isHeld ? "ADD" : "DEL";
  return isHeld ? "DEL" : "ADD";
}

async function attemptOn(
  context: Context,
  what: string,
  directories: { readonly ours: string; readonly go: string },
): Promise<Attempt[]> {
  const { teardown, subject } = context;
  if (goSubject === undefined || subject.name === "Go") return [];
  const views = {
    ours: new WatchedNetwork(context, { ipam, directory: directories.ours }),
    go: new WatchedNetwork({ teardown, subject: goSubject }, { ipam, directory: directories.go }),
  };
  const verifier = new Verifier();
  await takeTurns(context, views, verifier);
  await deleteAll(views.ours, containerIds, verifier);
  const left = views.go.reserved().join(" ");
  verifier.require(left === "", "leak", `${left} left in the end`);
  return [{ what, violations: verifier.violations }];
}

async function onSeconds(context: Context): Promise<Attempt[]> {
  const mounts = await Mounts.open(context.teardown);
  const image = join(scratchDirectory(context), "image");
  makeImage(image, fileSystems.ext4OfSeconds);
  const directory = mounts.image("disk", image);
  return attemptOn(context, "times of whole seconds", { ours: directory, go: directory });
}

async function onOrdinary(context: Context): Promise<Attempt[]> {
  const mounts = await Mounts.open(context.teardown);
  const memory = mounts.memory("memory", "size=4m");
  const disk = scratchDirectory(context);
  return [
    ...(await attemptOn(context, "the machine's own", { ours: disk, go: disk })),
    ...(await attemptOn(context, "in memory", { ours: memory, go: memory })),
  ];
}

/** How long the kernel believes what the file system has told it, in seconds. */
const CACHED = 60;

/** Programs that show a directory at another place, with such a cache; of these not all keep each time that is set. */
const caches = {
  mergerfs: ["mergerfs", "-o", `cache.attr=${CACHED},cache.entry=${CACHED}`],
  bindfs: ["bindfs", "-o", `attr_timeout=${CACHED},entry_timeout=${CACHED}`],
} as const;

async function throughCache(
  context: Context,
  name: keyof typeof caches,
): Promise<readonly Attempt[]> {
  const mounts = await Mounts.open(context.teardown);
  for (const place of ["backing", "cached"]) mkdirSync(mounts.at(place));
  mounts.run([...caches[name], mounts.within("backing"), mounts.within("cached")]);
  // Its process is in the namespace, which would not end before it.
  context.teardown(() => mounts.unmount("cached"));
  return attemptOn(context, `attributes and names cached for ${CACHED} s`, {
    ours: mounts.at("cached"),
    go: mounts.at("backing"),
  });
}

function cacheObstacle(name: keyof typeof caches): string | undefined {
  if (spawnSync(name, ["--version"]).error !== undefined) return `${name} is not installed.`;
  const fuse = existsSync("/dev/fuse") ? undefined : "The kernel of this machine has no FUSE.";
  return fuse ?? mountObstacle();
}

const promise = "each call finds what the one before has left; nothing is left after the DELs";

export const takeOverScenarios: readonly Scenario[] = [
  {
    fault: "the Go plugin and this one by turns, for the same containers again and again",
    promise,
    obstacle: () => skipWithoutGoPlugin || mountObstacle(),
    attempt: onOrdinary,
  },
  {
    fault: "the same where the file system keeps whole seconds only",
    promise,
    obstacle: () => skipWithoutGoPlugin || fileSystemObstacle(fileSystems.ext4OfSeconds),
    attempt: onSeconds,
  },
  ...(["mergerfs", "bindfs"] as const).map((name) => ({
    fault: `the same where this one sees the disk through a file system that caches (FUSE, ${name})`,
    promise,
    obstacle: () => skipWithoutGoPlugin || cacheObstacle(name),
    attempt: (context: Context) => throughCache(context, name),
  })),
];
