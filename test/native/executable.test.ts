/** What the native executable is made of. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { buildNative } from "../../scripts/build-native.ts";

test("two builds of one source give the same bytes", async (t) => {
  t.testdir();
  const digest = async (name: string): Promise<string> => {
    const work = join(t.testdirName, name);
    const output = await buildNative({ work, output: join(work, "host-local") });
    return createHash("sha256").update(readFileSync(output)).digest("hex");
  };

  t.equal(await digest("one"), await digest("other"));
});

test("it needs no shared library and carries no path of the machine that built it", async (t) => {
  const work = t.testdir();
  const executable = await buildNative({ work, output: join(work, "host-local") });
  const headers = spawnSync("readelf", ["--program-headers", "--dynamic", executable], {
    encoding: "utf8",
  }).stdout;

  t.match(headers, /LOAD/);
  t.notMatch(headers, /INTERP|NEEDED/);
  t.notOk(readFileSync(executable).includes(process.cwd()));
});
