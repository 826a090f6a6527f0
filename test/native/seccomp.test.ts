// test: native executable, slow
/** System calls that an old seccomp profile does not know, and so refuses. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { reservedAddresses } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { attachmentCall, configuration, networkCall } from "../harness/runtime-call.ts";

const isMissing = spawnSync("strace", ["--version"]).status !== 0;
const skip = isMissing ? "strace is not installed, which refuses the system call" : false;

test("STATUS works where faccessat2(2) is refused with EPERM", { skip }, async (t) => {
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
});

for (const error of ["EPERM", "ENOSYS"]) {
  test(`ADD and DEL work where statx(2) is refused with ${error}`, { skip }, async (t) => {
    const directory = t.testdir();
    for (const command of ["ADD", "DEL"] as const) {
      const { environment, stdin } = attachmentCall(
        command,
        { containerId: "c1" },
        configuration(directory, { subnet: "10.9.0.0/24" }),
      );
      const { status, stderr } = spawnSync(
        "strace",
        [`--inject=statx:error=${error}`, "--trace=statx", executable],
        { env: { ...process.env, ...environment }, input: stdin, encoding: "utf8" },
      );
      t.match(stderr, new RegExp(`statx.*${error}.*INJECTED`));
      t.equal(status, 0, command);
    }
    t.same(reservedAddresses(directory, "net"), []);
  });
}
