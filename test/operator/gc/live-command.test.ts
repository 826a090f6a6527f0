// test: each executable, one if short
/** gc --live-command in processes that were started in unusual ways. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { executable } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { nodeFor } from "../node.ts";
import { nodeWithPods } from "./pods-on-node.ts";

test("a failed command is noticed where the parent process ignored SIGCHLD", async (t) => {
  const node = nodeWithPods(t, "10.1.2", ["c1", "c2"]);
  const gc = node.line(["gc", "--now", "--yes", "--live-command", "echo c1; exit 3"]);

  const { status, stdout, stderr } = spawnSync(
    "bash",
    ["-c", `trap '' CHLD; exec "$@"`, "bash", executable, ...gc],
    { encoding: "utf8", env: runtimeEnvironment },
  );

  t.strictSame([status, stdout], [2, ""]);
  t.match(
    stderr,
    /^host-local: gc: --live-command: .* failed with exit code 3; nothing was released/,
  );
  t.same(node.reserved(), ["10.1.2.2", "10.1.2.3"]);
});

test("a command that prints too much is named, not its shell", async (t) => {
  t.strictSame(nodeFor(t).tool(["gc", "--live-command", "head -c 70000000 /dev/zero"]), {
    exitCode: 2,
    stdout: "",
    stderr:
      "host-local: gc: --live-command: head -c 70000000 /dev/zero printed more than 64 MiB; nothing was released\n",
  });
});
