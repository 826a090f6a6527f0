/** What the native executable is made of. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "tap";
import { buildNative } from "../../scripts/build-native.ts";

test("two builds of one source give the same bytes", async (t) => {
  const digest = async (): Promise<string> =>
    createHash("sha256")
      .update(readFileSync(await buildNative(false)))
      .digest("hex");

  t.equal(await digest(), await digest());
});

test("it needs no shared library and carries no path of the machine that built it", async (t) => {
  const executable = await buildNative(false);
  const headers = spawnSync("readelf", ["--program-headers", "--dynamic", executable], {
    encoding: "utf8",
  }).stdout;

  t.match(headers, /LOAD/);
  t.notMatch(headers, /INTERP|NEEDED/);
  t.notOk(readFileSync(executable).includes(process.cwd()));
});
