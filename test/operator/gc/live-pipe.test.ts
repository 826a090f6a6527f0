// test: each executable
/** gc --live with a pipe in place of a file: process substitution, or a named pipe. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { executable } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { nodeFor } from "../node.ts";

for (const [name, script] of [
  ["process substitution", '"$@" --live <(sleep 0.2; printf "c1\\n"; sleep 0.2; printf "c2\\n")'],
  [
    "a named pipe whose writer comes later",
    'mkfifo ids; (sleep 0.3; printf "c1\\nc2\\n" > ids) & "$@" --live ids',
  ],
] as const) {
  test(`the list is read from ${name}`, (t) => {
    const node = nodeFor(t);
    node.network("net", { subnet: "10.1.2.0/24" });
    for (const id of ["c1", "c2"]) node.call("ADD", "net", id);
    for (const address of ["10.1.2.2", "10.1.2.3"]) node.age(`net/${address}`, 3600);
    const gc = ["gc", "--conf-dir", node.confDir, "--data-dir", node.dataDir];

    const { status, stdout, stderr } = spawnSync(
      "bash",
      ["-c", script, "bash", executable, ...gc, "--cache-dir", node.cacheDir],
      { cwd: node.root, encoding: "utf8", env: runtimeEnvironment },
    );

    t.strictSame([status, stderr], [0, ""]);
    t.match(stdout, "2 reservations: 2 alive");
    t.end();
  });
}
