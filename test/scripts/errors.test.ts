// test: own process
/** An error of a script is one line with the cause, whatever Node.js runs it. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { inRepository } from "../harness/repository.ts";

/** Lets a script believe that an older Node.js runs it. */
const OLDER =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.19.0"}})';

const scripts: readonly [string, string, RegExp, (readonly string[])?][] = [
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
  ["is run by an older Node.js", "", /: expected Node\.js 26, found 20\.19\.0: npm ci /, [OLDER]],
];

for (const [what, text, expected, before = []] of scripts) {
  test(`a script that ${what}`, async (t) => {
    const script = join(scratchDirectory(t), "script.mjs");
    writeFileSync(script, text);
    const imported = [...before, inRepository("scripts/errors.mjs")];
    const words = [...imported.flatMap((one) => ["--import", one]), script];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
    t.strictSame([status, stdout], [1, ""]);
    const [line = "", ...more] = stderr.split("\n");
    t.match(line, expected);
    t.strictSame(more, [""], "there is one line");
  });
}
