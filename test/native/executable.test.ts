/** What the native executable is made of. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { buildNative } from "../../scripts/build-native.ts";
import { executable } from "../blackbox/executable.ts";

test("another build, in another directory, gives the same bytes", async (t) => {
  const work = t.testdir();
  const other = await buildNative({ work, output: join(work, "host-local") });

  t.ok(readFileSync(other).equals(readFileSync(executable)));
});

test("it needs no shared library and carries no path of the machine that built it", (t) => {
  const headers = spawnSync("readelf", ["--program-headers", "--dynamic", executable], {
    encoding: "utf8",
  }).stdout;

  t.match(headers, /LOAD/);
  t.notMatch(headers, /INTERP|NEEDED/);
  t.notOk(readFileSync(executable).includes(process.cwd()));
  t.end();
});
