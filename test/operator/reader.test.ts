// test: each executable, one if short, each architecture
/** A reader of the output that goes away, as head(1), is not an error. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { executable } from "../harness/executable.ts";
import { runtimeEnvironment } from "../harness/runtime-call.ts";
import { nodeFor } from "./node.ts";

/** Starts the tool once the reader of its output has ended. */
const WITHOUT_READER = 'exec 3> >(exec true); wait $!; "$@" >&3';

for (const words of [["list"], ["networks"], ["metrics"], ["list", "--json"]]) {
  test(`nobody reads the output of ${words.join(" ")}`, async (t) => {
    const node = nodeFor(t);
    node.network("net", { subnet: "10.0.0.0/24" });

    const { status, stderr } = spawnSync(
      "bash",
      ["-c", WITHOUT_READER, "bash", executable, ...node.line(words)],
      { encoding: "utf8", env: runtimeEnvironment, timeout: 60_000 },
    );

    t.strictSame([status, stderr], [0, ""]);
  });
}

for (const words of [["--help"], ["check", "-h"], ["man"], ["completion", "bash"], ["--version"]]) {
  test(`nobody reads the output of ${words.join(" ")}`, async (t) => {
    const { status, stderr } = spawnSync(
      "bash",
      ["-c", WITHOUT_READER, "bash", executable, ...words],
      { encoding: "utf8", env: runtimeEnvironment },
    );

    t.strictSame([status, stderr], [0, ""]);
  });
}

test("other failures of the output are errors", async (t) => {
  const { status, stderr } = spawnSync("bash", ["-c", '"$1" man > /dev/full', "bash", executable], {
    encoding: "utf8",
    env: runtimeEnvironment,
  });

  t.strictSame([status, stderr], [2, "host-local: write /dev/stdout: no space left on device\n"]);
});
