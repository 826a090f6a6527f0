// test: own process
/** Where the native executable cannot be built, it is said what to install, before anything is fetched. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { MISSING_TOOL } from "../../scripts/build/native.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { inRepository } from "../harness/repository.ts";

for (const [what, programs, expected] of [
  ["no compiler", {}, /^gcc could not be run: install gcc and libc6-dev\. \(.*ENOENT\)\n$/],
  [
    "a compiler without a C library",
    // What it prints where it finds none.
    { gcc: "echo libc.a" },
    /^gcc has no static C library: install libc6-dev\.\n$/,
  ],
] as const) {
  test(`a machine with ${what}`, async (t) => {
    const PATH = scratchDirectory(t);
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(PATH, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [inRepository("scripts/build/native.ts")],
      { encoding: "utf8", env: { PATH } },
    );
    t.strictSame([status, stdout], [MISSING_TOOL, ""]);
    t.match(stderr, expected);
  });
}
