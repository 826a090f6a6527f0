/**
 * Runs the tests of test/kernels: the native executable in emulated machines with Debian's kernels. What it needs and does not
 * find it builds or fetches. Nothing is installed, and root is not needed.
 *
 * Usage: npm run test:kernels [-- [--seed NUMBER] [SUITE...]]
 *
 *   --seed NUMBER   the seed of all that is random; without it one is drawn, and printed
 *   SUITE           only the kernels of these suites of Debian, such as `trixie`; `here` is this machine's own, as root
 */

import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { randomFrom } from "../../test/harness/random.ts";
import { disksAfterLoss, emptyDisks, lengthsOf } from "../../test/kernels/disks.ts";
import {
  type Disk,
  type Kernel,
  kernels,
  makeRoot,
  type Run,
  runMachine,
  writeInitialFileSystem,
} from "../../test/kernels/emulator.ts";
import { runHere } from "../../test/kernels/here.ts";
import { ownArchitecture } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { buildNative } from "../build/native.ts";
import { Tally } from "./tally.ts";
import { resultsOf } from "./tap-output.ts";

const work = join(root, "build", "kernel-tests");

const executable = join(root, "dist/native/host-local");

/** The tests that need neither a disk nor a boot. */
const withoutBoot = ["life", "records", "sight", "linked"];

/** How long a storm takes at least, and at most twice that, in milliseconds. */
const STORM = 15_000;

const { values: options, positionals } = parseArgs({
  options: { seed: { type: "string" } },
  allowPositionals: true,
});
const seed = options.seed === undefined ? randomInt(2 ** 31) : Number(options.seed);
const random = randomFrom(seed);
const tally = new Tally();

if (ownArchitecture().name === "amd64") await testAll();
else console.log("The kernels are those of x86-64, and so must be the executable.");
tally.conclude();

async function testAll(): Promise<void> {
  const fetch = spawnSync("bash", [join(root, "scripts/fetch/kernels.sh")], { stdio: "inherit" });
  if (fetch.status !== 0) throw new Error("scripts/fetch/kernels.sh failed.");
  await buildNative();
  console.log(`Losses of power with seed ${seed}`);
  if (isChosen("here")) testHere();
  for (const kernel of kernels()) if (isChosen(kernel.suite)) await testWith(kernel);
}

function isChosen(name: string): boolean {
  return positionals.length === 0 || positionals.includes(name);
}

/** The tests that need no boot, on this machine's own kernel. */
function testHere(): void {
  if (process.getuid?.() !== 0) return tally.skip("Only root can run the tests on this kernel.");
  const began = performance.now();
  const { printed, end } = runHere(makeRoot(join(work, "here"), executable), withoutBoot);
  add(printed, { paths: withoutBoot, began, end, kernel: release() });
}

/** Boots four times: pods until the machine is switched off, and what it finds then; a storm, and what its end leaves. */
async function testWith(kernel: Kernel): Promise<void> {
  const directory = join(work, kernel.suite);
  rmSync(directory, { recursive: true, force: true });
  const initialFileSystem = join(directory, "initial-file-system");
  writeInitialFileSystem(kernel, makeRoot(directory, executable), initialFileSystem);
  const run = async (
    tests: readonly string[],
    disks: readonly Disk[],
    storm?: () => Promise<void>,
  ): Promise<void> => {
    const console = join(directory, `console-${tests.at(-1)}`);
    const began = performance.now();
    const machine = { kernel, initialFileSystem, tests, disks, console };
    const { printed, end } = await runMachine(machine, storm);
    add(printed, { paths: tests, began, end, kernel: kernel.release });
  };
  const kept = emptyDisks(join(directory, "kept")).map(({ name, image }) => ({ name, image }));
  await run([...withoutBoot, "before-reboot"], kept);
  await run(["after-reboot"], kept);
  const lost = emptyDisks(join(directory, "lost"));
  let lengths: readonly number[] = [];
  await run(["storm"], lost, async () => {
    lengths = lengthsOf(lost);
    await sleep(STORM + random.integer(STORM));
  });
  await run(["after-loss"], disksAfterLoss(lost, lengths, random));
}

/** Counts the results of tests, and prints what a loss of power has left. */
function add(
  printed: string,
  {
    paths,
    began,
    end,
    kernel,
  }: Omit<Run, "printed"> & {
    readonly paths: readonly string[];
    readonly began: number;
    readonly kernel: string;
  },
): void {
  const seconds = (performance.now() - began) / 1000;
  for (const result of resultsOf(printed, { paths, seconds, isOrderly: end === "", end })) {
    tally.add(result, kernel);
  }
  for (const [, line = ""] of printed.matchAll(/^# (.*: left by .*)$/gm)) {
    console.log(`              ${line}`);
  }
}
