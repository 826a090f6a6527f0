// test: native executable, slow
/** System calls that an old seccomp profile does not know, and therefore refuses. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { reservedAddresses } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { attachmentCall, configuration, networkCall } from "../harness/runtime-call.ts";

const isMissing = spawnSync("strace", ["--version"]).status !== 0;
const skip = isMissing ? "strace is not installed, which refuses the system call" : false;

for (const [verbs, name, error] of [
  [["STATUS"], "faccessat2", "EPERM"],
  [["ADD", "DEL"], "statx", "EPERM"],
  [["ADD", "DEL"], "statx", "ENOSYS"],
] as const) {
  test(`${verbs.join(" and ")} work where ${name}(2) is refused with ${error}`, {
    skip,
  }, async (t) => {
    const directory = t.testdir();
    const document = configuration(directory, { subnet: "198.51.100.0/24" });
    for (const verb of verbs) {
      const { environment, stdin } =
        verb === "STATUS"
          ? networkCall(verb, document)
          : attachmentCall(verb, { containerId: "c1" }, document);
      const { status, stdout, stderr } = spawnSync(
        "strace",
        [`--inject=${name}:error=${error}`, `--trace=${name}`, executable],
        { env: { ...process.env, ...environment }, input: stdin, encoding: "utf8" },
      );
      t.match(stderr, new RegExp(`${name}.*${error}.*INJECTED`));
      t.equal(status, 0, verb);
      if (verb !== "ADD") t.equal(stdout, "", verb);
    }
    t.same(reservedAddresses(directory, "net"), []);
  });
}
