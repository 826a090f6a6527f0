/** A disk that is full, or has no inodes left: a file system in memory, filled to the last page. */

import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { DualStack, mustWork, verifyError, verifyRecovery } from "./dual-stack.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

/** What a disk can run out of. */
interface Shortage {
  readonly of: "pages" | "inodes";
  /** Takes all but `count`, and returns the function that frees them. */
  readonly leave: (disk: string, count: number) => () => void;
}

const shortages: readonly Shortage[] = [
  { of: "pages", leave: leavePages },
  { of: "inodes", leave: leaveInodes },
];

const DISK = "size=128k,nr_inodes=100";

const CAUSE = "no space left on device";

/** This many of either are enough for one ADD into an empty directory. */
const ENOUGH = 18;

/** How often a failed ADD is repeated, as a runtime does, to see what it leaves each time. */
const REPETITIONS = 3;

/** Takes all pages of a file system but `count`; returns the function that frees them. */
export function leavePages(disk: string, count: number): () => void {
  const { bfree, bsize } = statfsSync(disk);
  const filler = join(disk, "filler");
  writeFileSync(filler, Buffer.alloc((bfree - count) * bsize));
  return () => rmSync(filler);
}

/** As `leavePages`, for inodes. */
export function leaveInodes(disk: string, count: number): () => void {
  const filler = join(disk, "filler");
  mkdirSync(filler);
  for (let at = statfsSync(disk).ffree; at > count; at--) writeFileSync(join(filler, `${at}`), "");
  return () => rmSync(filler, { recursive: true });
}

/** An ADD with this much left, into a network that is in use or was never used. */
async function addInto(
  network: DualStack,
  disk: string,
  { of, leave }: Shortage,
  left: number,
  isInUse: boolean,
): Promise<Attempt> {
  const verifier = new Verifier();
  if (isInUse) await mustWork(network, "ADD", "other", verifier);
  const before = network.reservations().size;
  const makeRoom = leave(disk, left);
  const outcome = await network.do("ADD", "victim");
  if (outcome.exitCode === 0) {
    verifier.require(network.heldBy("victim").length === 2, "torn", "not both families");
  } else {
    verifier.require(left < ENOUGH, "refused", `there is room enough: ${outcome.stdout}`);
    verifyError(outcome, network.directory, CAUSE, verifier);
    const names = [...network.reservations().keys()].join(" ");
    verifier.require(network.reservations().size === before, "kept", `after the ADD: ${names}`);
    await verifyDebris(network, verifier);
  }
  makeRoom();
  if (!isInUse) await mustWork(network, "ADD", "other", verifier);
  await verifyRecovery(network, verifier);
  const what = `ADD with ${left} ${of} left, ${isInUse ? "network in use" : "new network"}`;
  return { what, violations: verifier.violations };
}

/** However often it fails, it leaves no more behind than the first time. */
async function verifyDebris(network: DualStack, verifier: Verifier): Promise<void> {
  const left = entriesBelow(network.directory);
  for (let i = 0; i < REPETITIONS; i++) await network.do("ADD", "victim");
  if (network.heldBy("victim").length > 0) return;
  const later = entriesBelow(network.directory);
  const grown = later.filter((path) => !left.includes(path)).join(" ");
  verifier.require(
    later.length <= left.length,
    "leak",
    `failed ADDs leave more and more: ${grown}`,
  );
}

function entriesBelow(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}

type Release = (network: DualStack, verifier: Verifier) => Promise<void>;

const releases: Readonly<Record<string, Release>> = {
  DEL: (network, verifier) => mustWork(network, "DEL", "victim", verifier),
  GC: async (network, verifier) => {
    const valid = [{ containerID: "other", ifname: "eth0" }];
    const { exitCode, stdout } = await network.ask("GC", { "cni.dev/valid-attachments": valid });
    verifier.require(exitCode === 0, "refused", `GC: ${stdout}`);
  },
};

/** CHECK, then a release, with nothing left. */
async function releaseFrom(
  network: DualStack,
  disk: string,
  { of, leave }: Shortage,
  verb: string,
  release: Release,
): Promise<Attempt> {
  const verifier = new Verifier();
  await mustWork(network, "ADD", "other", verifier);
  await mustWork(network, "ADD", "victim", verifier);
  const makeRoom = leave(disk, 0);
  const check = await network.do("CHECK", "victim");
  verifier.require(check.exitCode === 0, "refused", `CHECK: ${check.stdout}`);
  await release(network, verifier);
  const held = network.heldBy("victim").join(" ");
  verifier.require(held === "", "leak", `${verb} leaves ${held}`);
  verifier.require(network.heldBy("other").length === 2, "double", `${verb} takes the other's`);
  makeRoom();
  await verifyRecovery(network, verifier);
  return { what: `${verb} with no ${of} left`, violations: verifier.violations };
}

async function tryAdds(context: Context, of: Shortage): Promise<Attempt[]> {
  const { subject, extent, teardown } = context;
  const mounts = await Mounts.open(teardown);
  const amounts = Array.from({ length: ENOUGH + 1 }, (_, at) => at);
  const tried = extent === "exhaustive" ? amounts : [0, 1, 2, 6, ENOUGH];
  const all = [true, false].flatMap((isInUse) => tried.map((left) => ({ isInUse, left })));
  return sideBySide(shortSampleOf(context, all), 4, ({ isInUse, left }) => {
    const disk = mounts.memory(`${of.of}-${left}-${isInUse}`, DISK);
    return addInto(new DualStack(subject, join(disk, "data")), disk, of, left, isInUse);
  });
}

async function tryReleases(context: Context, of: Shortage): Promise<Attempt[]> {
  const { subject, teardown } = context;
  const mounts = await Mounts.open(teardown);
  return sideBySide(shortSampleOf(context, Object.entries(releases)), 2, ([verb, release]) => {
    const disk = mounts.memory(`${of.of}-${verb}`, DISK);
    return releaseFrom(new DualStack(subject, join(disk, "data")), disk, of, verb, release);
  });
}

export const fullDiskScenarios: readonly Scenario[] = shortages.flatMap((shortage) => [
  {
    fault: shortage.of === "pages" ? "disk full, or nearly" : "disk out of inodes, or nearly",
    promise:
      "an ADD gets both families, or fails with path and cause and keeps neither; no debris grows",
    obstacle: mountObstacle,
    attempt: (context: Context) => tryAdds(context, shortage),
  },
  {
    fault: shortage.of === "pages" ? "disk full" : "disk out of inodes",
    promise: "DEL and GC free, CHECK answers",
    obstacle: mountObstacle,
    attempt: (context: Context) => tryReleases(context, shortage),
  },
]);
