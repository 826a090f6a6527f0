/** System calls that an old seccomp profile does not know, and so refuses. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { executable } from "../blackbox/executable.ts";
import { configuration, networkCall } from "../blackbox/runtime-call.ts";

const isMissing = spawnSync("strace", ["--version"]).status !== 0;
const skip = isMissing ? "strace is not installed, which refuses the system call" : false;

test("STATUS works where faccessat2(2) is refused with EPERM", { skip }, (t) => {
  const directory = t.testdir();
  const { environment, stdin } = networkCall(
    "STATUS",
    configuration(directory, { subnet: "10.9.0.0/24" }),
  );
  const { status, stdout, stderr } = spawnSync(
    "strace",
    ["--inject=faccessat2:error=EPERM", "--trace=faccessat2", executable],
    { env: { ...process.env, ...environment }, input: stdin, encoding: "utf8" },
  );
  t.match(stderr, /faccessat2.*EPERM.*INJECTED/);
  t.same({ status, stdout }, { status: 0, stdout: "" });
  t.end();
});
