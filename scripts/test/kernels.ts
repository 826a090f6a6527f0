/**
 * Runs the tests of test/kernels: the native executable in emulated machines with Debian's kernels. What it needs and does not
 * find it builds or fetches.
 *
 * Usage: npm run test:kernels [-- [--seed NUMBER] [SUITE...]]
 *
 *   SUITE   only the kernels of these suites of Debian, such as `trixie`
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { boot, type Kernel, kernels, makeInitialFileSystem } from "../../test/kernels/emulator.ts";
import { root } from "../build/bundle.ts";
import { buildNative } from "../build/native.ts";
import { Tally } from "./tally.ts";
import { resultsOf } from "./tap-output.ts";

const work = join(root, "build", "kernel-tests");

const { positionals } = parseArgs({ allowPositionals: true });

const tally = new Tally();
const fetch = spawnSync("bash", [join(root, "scripts/fetch/kernels.sh")], { stdio: "inherit" });
if (fetch.status !== 0) throw new Error("scripts/fetch/kernels.sh failed.");
await buildNative();
rmSync(work, { recursive: true, force: true });
for (const kernel of kernels()) {
  if (positionals.length > 0 && !positionals.includes(kernel.suite)) continue;
  await testWith(kernel);
}
tally.conclude();

async function testWith(kernel: Kernel): Promise<void> {
  const directory = join(work, kernel.suite);
  mkdirSync(directory, { recursive: true });
  const executable = join(root, "dist/native/host-local");
  const initialFileSystem = makeInitialFileSystem(kernel, directory, executable);
  const tests = ["life", "records"];
  const began = performance.now();
  const machine = boot({ kernel, initialFileSystem, tests, disks: [], console: join(directory, "console") });
  let tap = "";
  machine.stdout?.on("data", (chunk) => { tap += chunk; });
  const status = await new Promise<number | null>((settle) => machine.on("close", settle));
  for (const result of resultsOf(tap, { paths: tests, seconds: (performance.now() - began) / 1000, isOrderly: status === 0, end: `exit code ${status}` })) tally.add(result, kernel.release);
}
