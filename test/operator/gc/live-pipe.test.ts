// test: each executable
/** gc --live with a pipe in place of a file: process substitution, or a named pipe. */

import { spawnSync } from "node:child_process";
import { closeSync, copyFileSync, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { executable } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { nodeWithPods } from "./pods-on-node.ts";

for (const [name, script] of [
  ["process substitution", '"$@" --live <(sleep 0.2; printf "c1\\n"; sleep 0.2; printf "c2\\n")'],
  [
    "a named pipe whose writer comes later",
    'mkfifo ids; (sleep 0.3; printf "c1\\nc2\\n" > ids) & "$@" --live ids',
  ],
] as const) {
  test(`the list is read from ${name}`, async (t) => {
    const node = nodeWithPods(t, "10.1.2", ["c1", "c2"]);

    const { status, stdout, stderr } = spawnSync(
      "bash",
      ["-c", script, "bash", executable, ...node.line(["gc"])],
      { cwd: node.root, encoding: "utf8", env: runtimeEnvironment },
    );

    t.strictSame([status, stderr], [0, ""]);
    t.match(stdout, "2 reservations: 2 alive");
  });
}

test("a list is asked for by a program whose own file was deleted meanwhile, as the agent's may be", async (t) => {
  const node = nodeWithPods(t, "10.1.2", ["c1"]);
  const copy = join(node.root, "copy");
  copyFileSync(executable, copy);
  const file = openSync(copy, "r");
  unlinkSync(copy);

  const { status, stdout, stderr } = spawnSync(
    "/proc/self/fd/3",
    node.line(["gc", "--live-command", "/bin/echo c1"]),
    { encoding: "utf8", env: runtimeEnvironment, stdio: ["ignore", "pipe", "pipe", file] },
  );

  closeSync(file);
  t.strictSame([status, stderr], [0, ""]);
  t.match(stdout, "1 reservation: 1 alive");
});
