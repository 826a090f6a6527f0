// test: native executable, slow
/** What a host function is given, by a C program under the sanitizers. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "tap";
import { compileChecked } from "../../scripts/build/native.ts";
import { inRepository } from "../harness/repository.ts";

test("a host function that takes more texts than there is room for ends the process", async (t) => {
  const program = join(t.testdir(), "call");
  const sources = ["call.c", "engine.c"].map((name) => `src/system/quickjs/${name}`);
  compileChecked(["test/native/call.c", ...sources].map(inRepository), program);
  const outcomes = ["0", "3", "4"].map((texts) => {
    const { signal, stdout, stderr } = spawnSync(program, [texts], { encoding: "utf8" });
    return { signal, stdout, stderr };
  });
  const returned = { signal: null, stdout: "returned\n", stderr: "" };
  t.strictSame(outcomes, [returned, returned, { signal: "SIGABRT", stdout: "", stderr: "" }]);
});
