// test: native executable, slow
/** The allocator of the engine, by a C program under the sanitizers. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "tap";
import { compileChecked } from "../../scripts/build/native.ts";
import { inRepository } from "../harness/repository.ts";

test("sizes, growth, the memory limit, and the layout of a snapshot", async (t) => {
  const program = join(t.testdir(), "allocator");
  const files = ["test/native/allocator.c", "src/system/quickjs/allocator.c"];
  compileChecked(files.map(inRepository), program);
  for (const use of ["call", "kept", "rehearsal", "written", "given back"]) {
    const { status, stdout, stderr } = spawnSync(program, [use], { encoding: "utf8" });
    t.same({ status, stdout, stderr }, { status: 0, stdout: "", stderr: "" }, use);
  }
});
