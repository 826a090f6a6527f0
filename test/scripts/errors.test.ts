// test: own process
/** An error of a script is one line with the cause. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { inRepository } from "../harness/repository.ts";

const scripts: readonly [string, string, RegExp][] = [
  ["throws", "throw new Error('no disk')", /: no disk$/],
  ["rejects", "await Promise.reject(new Error('no disk'))", /: no disk$/],
  ["rejects later", "setTimeout(() => Promise.reject(new Error('no disk')))", /: no disk$/],
  ["throws what is no error", "throw 'no disk'", /: no disk$/],
  ["has a reason in lines", "throw new Error('no:\\n  disk\\n')", /: no: disk$/],
  [
    "has a cause",
    "throw new Error('no file', { cause: new Error('no disk') })",
    /: no file: no disk$/,
  ],
  ["needs what is not there", "await import('no-such-package')", /: Cannot find package 'no-such/],
];

for (const [what, text, expected] of scripts) {
  test(`a script that ${what}`, async (t) => {
    const script = join(scratchDirectory(t), "script.mjs");
    writeFileSync(script, text);
    const words = ["--import", inRepository("scripts/errors.ts"), script];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
    t.strictSame([status, stdout], [1, ""]);
    const [line = "", ...more] = stderr.split("\n");
    t.match(line, expected);
    t.strictSame(more, [""], "there is one line");
  });
}
