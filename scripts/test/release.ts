/**
 * Makes a release and tests it: every archive unpacked and used (test/release), and the programs for other architectures
 * under QEMU with the recorded calls, the take-over from and by the Go plugin of their own architecture, and the operator
 * commands. Prints one line for each file of tests and architecture.
 *
 * Usage: npm run test:release [-- OPTION...]
 *
 *   --arch A,B    release only these architectures, in Go's names
 *   --long A,B    the long tests only for these; `none` for none
 *   --tests F,G   of the long tests only these files, with the native executables alone
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { shellWord } from "../../src/cli/output/shell-word.ts";
import { sideBySide } from "../../test/harness/side-by-side.ts";
import {
  type Architecture,
  architectureNamed,
  architectures,
  emulator,
  ownArchitecture,
  runsHere,
} from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import { emulating } from "../release/emulation.ts";
import { makeRelease } from "../release/make.ts";
import { nameOf, type Variant, variantsFor } from "../release/release.ts";
import { testFiles } from "./files.ts";
import { runTestFiles } from "./process.ts";
import { Tally } from "./tally.ts";

const work = join(root, "build", "release-test");

const release = join(work, "release");

/** An emulated program is some twenty times slower; in seconds. */
const LONGEST = 900;

const files = testFiles();

/** Tests of an executable, in which an architecture could matter, and their extent. */
const longTests = files.flatMap(({ path, words }) => [
  ...(words.has("each architecture in full") ? [[path, "full"] as const] : []),
  ...(words.has("each architecture") ? [[path, "short"] as const] : []),
]);

/** A start of Node.js takes a second under QEMU. */
const portableTests = [["test/behaviours/status.test.ts", "short"]] as const;

const all = architectures.map(({ name }) => name).join(",");
const { values } = parseArgs({
  options: {
    arch: { type: "string", default: all },
    long: { type: "string" },
    tests: { type: "string" },
  },
});
const tally = new Tally();
const released = values.arch.split(",").map(architectureNamed).filter(isFetched);
const long =
  values.long === undefined
    ? released
    : values.long.split(",").flatMap((name) => (name === "none" ? [] : [architectureNamed(name)]));

const chosen = values.tests?.split(",");
const unknown = chosen?.find((path) => !longTests.some(([file]) => file === path));
if (unknown !== undefined) throw new Error(`${unknown} is none of the long tests.`);

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
await makeRelease({
  variants: variantsFor(released),
  output: release,
  builder: "urn:host-local:test",
  image: "registry.example.org/cni/host-local",
  allowChanges: true,
});
await sideBySide(
  files.filter(({ words }) => words.has("release")),
  availableParallelism(),
  ({ path }) => runTests(path, "this machine", { HOST_LOCAL_RELEASE: release }),
);
for (const architecture of long) {
  if (!released.includes(architecture)) continue;
  try {
    const program = executableOf({ flavour: "native", architecture });
    await emulating(architecture, program, () => testLong(architecture));
  } catch (error) {
    tally.skip(`The long tests for ${architecture.name} are skipped. ${error}`);
  }
}
tally.conclude();

async function testLong(architecture: Architecture): Promise<void> {
  const goPlugin = goPluginFor(architecture);
  // The portable one takes longest.
  const runs = variantsFor([architecture])
    .toReversed()
    .flatMap((variant) => {
      const isNative = variant.flavour === "native";
      const unpacked = executableOf(variant);
      const executable = isNative ? unpacked : started(variant, unpacked, "portable");
      const tests = isNative ? longTests : portableTests;
      return tests
        .filter(([file]) => chosen?.includes(file) ?? true)
        .map(
          ([file, extent]) =>
            () =>
              runTests(file, `${architecture.name}, ${variant.flavour}`, {
                HOST_LOCAL_BIN: executable,
                HOST_LOCAL_EXTENT: extent,
                ...(goPlugin === undefined ? {} : { HOST_LOCAL_GO_BIN: goPlugin }),
              }),
        );
    });
  await sideBySide(runs, availableParallelism(), (run) => run());
}

/** Whether what a release for an architecture is linked with can be had: a mirror may be about to be renewed. */
function isFetched(architecture: Architecture): boolean {
  if (architecture === ownArchitecture()) return true;
  const { name, debian } = architecture;
  const script = join(root, "scripts/fetch/quickjs.sh");
  const isThere = spawnSync("bash", [script, debian], { stdio: "inherit" }).status === 0;
  if (!isThere) tally.skip(`No release for ${name} is made: its packages cannot be fetched.`);
  return isThere;
}

/** Unpacks the archive. */
function executableOf(variant: Variant): string {
  const [name = ""] = readdirSync(release).filter(
    (file) => file.endsWith(".tgz") && file.startsWith(nameOf(variant, "")),
  );
  mkdirSync(work, { recursive: true });
  command(["tar", "-xzf", join(release, name), "-C", work]);
  return join(work, name.replace(/\.tgz$/, ""), "host-local");
}

/** The Go plugin of an architecture; empty where it cannot be fetched, absent where the tests find it themselves. */
function goPluginFor(architecture: Architecture): string | undefined {
  if (architecture === ownArchitecture()) return undefined;
  const { debian } = architecture;
  const script = join(root, "scripts/fetch/go-plugins.sh");
  const { status } = spawnSync("bash", [script, debian], { stdio: "inherit" });
  if (status !== 0) return "";
  const plugin = join(root, "build", `go-plugins-${debian}`, "usr", "lib", "cni", "host-local");
  return started({ flavour: "native", architecture }, plugin, "go");
}

/** A script that starts a program which is linked dynamically, with the libraries of Debian's cross compiler. */
function started({ architecture }: Variant, program: string, name: string): string {
  const { triplet, tools = triplet } = architecture;
  const words = runsHere(architecture)
    ? [`/usr/${tools}/lib/ld-linux.so.2`, "--library-path", `/usr/${tools}/lib`, program]
    : [...emulator(architecture), program];
  if (architecture === ownArchitecture()) return program;
  const path = join(work, `${name}-${architecture.name}`);
  writeFileSync(path, `#!/bin/sh\nexec ${words.map(shellWord).join(" ")} "$@"\n`, { mode: 0o755 });
  return path;
}

async function runTests(
  file: string,
  subject: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  for (const result of await runTestFiles([file], environment, LONGEST)) tally.add(result, subject);
}
