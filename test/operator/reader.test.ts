// test: each executable, one if short, each architecture
/** A reader of the output that goes away, as head(1), is not an error. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { executable } from "../harness/executable.ts";
import { runtimeEnvironment } from "../harness/runtime-call.ts";
import { nodeFor } from "./node.ts";

/** Runs a line of bash in which `$0` is the executable. */
function bash(script: string, words: readonly string[] = []) {
  const { status, stderr } = spawnSync("bash", ["-c", script, executable, ...words], {
    encoding: "utf8",
    env: runtimeEnvironment,
    timeout: 60_000,
  });
  return [status, stderr];
}

/** Starts the tool once the reader of its output has ended. */
const WITHOUT_READER = 'exec 3> >(exec true); wait $!; "$0" "$@" >&3';

for (const words of [["list"], ["metrics"], ["list", "--json"], ["check", "-h"], ["--version"]]) {
  test(`nobody reads the output of ${words.join(" ")}`, async (t) => {
    const node = nodeFor(t);
    node.network("net", { subnet: "198.51.100.0/24" });

    t.strictSame(bash(WITHOUT_READER, node.line(words)), [0, ""]);
  });
}

test("other failures of the output are errors", async (t) => {
  t.strictSame(bash('"$0" man > /dev/full'), [
    2,
    "host-local: write /dev/stdout: no space left on device\n",
  ]);
});
