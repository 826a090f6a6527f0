// test: each executable, one if short, slow, mounts
/** install: two installers at once, each in a PID namespace of its own, as in two containers. */

import { rmSync, statSync } from "node:fs";
import { test } from "tap";
import { injectionObstacle } from "../../faults/executables/injection.ts";
import { executable, isNative, type Outcome, start } from "../../harness/executable.ts";
import { extent } from "../../harness/extent.ts";
import { lacking } from "../../harness/needs.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { until } from "../../harness/until.ts";
import { directoryWith, GO, type PluginDirectory } from "./plugin-directory.ts";

const skip = lacking("mounts");

const namespace = ["--pid", "--fork", "--mount-proc", "--kill-child"];

/** How often: the portable executable is fifty times larger. */
const ROUNDS = extent === "short" ? 3 : isNative ? 60 : 6;

/** Starts an installer, which is process 1 of its namespace, or process 2 behind a tracer. */
function installIn({ path }: PluginDirectory, ...tracer: readonly string[]): Promise<Outcome> {
  return start("unshare", {
    environment: runtimeEnvironment,
    stdin: "",
    arguments: [...namespace, ...tracer, executable, "install", path, "--yes"],
  });
}

/** No file has this size. */
const MISSING = -1;

/** Looks at the plugin until some installers have ended, and returns every size that it had. */
async function sizesDuring(path: string, ends: Promise<unknown>): Promise<readonly number[]> {
  const sizes = new Set<number>();
  let isOver = false;
  const over = ends.then(() => {
    isOver = true;
  });
  await until("the end of the installers", () => {
    sizes.add(statSync(path, { throwIfNoEntry: false })?.size ?? MISSING);
    return isOver;
  });
  await over;
  return [...sizes];
}

test(`both succeed, ${ROUNDS} times, and the plugin is whole at every moment`, {
  skip,
}, async (t) => {
  const whole = [GO.length, statSync(executable).size];
  for (let round = 0; round < ROUNDS; round++) {
    const directory = directoryWith(t, "go - -");
    const both = Promise.all([installIn(directory), installIn(directory)]);

    const sizes = await sizesDuring(directory.target, both);

    for (const { exitCode, stderr } of await both) t.strictSame([exitCode, stderr], [0, ""]);
    t.strictSame(
      sizes.filter((size) => !whole.includes(size)),
      [],
    );
    t.equal(directory.state, "this go M", "no temporary file is left");
    rmSync(directory.path, { recursive: true });
  }
});

test("an installer that is about to publish is not given what another one still writes", {
  skip: skip || (injectionObstacle() ?? false),
}, async (t) => {
  const directory = directoryWith(t, "go - -");
  const delayed = (calls: string, microseconds: number, when = "1+"): readonly string[] => [
    ...["strace", "--follow-forks", "--output=/dev/null", "--trace=%file,write"],
    `--inject=${calls}:delay_enter=${microseconds}:when=${when}`,
  ];
  const first = installIn(directory, ...delayed("/^rename", 1_000_000, "1..2"));
  await until("the first one's copy is kept", () => directory.names.length > 1);
  const second = installIn(directory, ...delayed("write", 100_000));

  const { exitCode, stderr } = await first;

  t.strictSame([exitCode, stderr], [0, ""]);
  t.match(directory.state, /^this /, "what it has published is whole");
  t.match(await second, { exitCode: 0, stderr: "" });
  t.equal(directory.state, "this go M");
});
