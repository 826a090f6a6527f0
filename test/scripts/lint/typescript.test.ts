// test: own process
/** `npm run lint` is red for a planted arrow, folder and comment, and names each. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { inRepository } from "../../harness/repository.ts";

const options = { module: "nodenext", allowImportingTsExtensions: true, noEmit: true };

/** The exit code and the lines of the linter, in a project of these files. */
function lint(directory: string) {
  const words = [inRepository("scripts/lint/typescript.ts")];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: directory });
  return [status, String(stderr).split("\n")];
}

const comment = "Those that are here.";

test("what is planted is named, also the import of a type", async (t) => {
  const directory = t.testdir({
    "tsconfig.json": JSON.stringify({ compilerOptions: options, include: ["src", "test"] }),
    src: {
      ipam: {
        "a.ts": 'import type { Lock } from "../store/lock.ts";\nexport type A = Lock;\n',
        "b.ts": `/** ${comment} */\nexport const late = import("../store/lock.ts");\n`,
      },
      store: { "lock.ts": 'import "node:fs";\nexport interface Lock {}\n' },
    },
    test: { ipam: { ranges: { "c.test.ts": "export {};\n" } } },
  });
  const arrow = "scripts/lint/arrows.ts has no arrow from ipam to store";
  t.same(lint(directory), [
    1,
    [
      `src/ipam/a.ts: ${arrow}`,
      `src/ipam/b.ts: ${arrow}`,
      "test/ipam/ranges: src/ has no such folder, which it would be the tests of",
      `src/ipam/b.ts:1: a doc comment names what it documents, found: ${comment}`,
      "",
    ],
  ]);
});

test("nothing is said where nothing is wrong", async (t) => {
  const directory = t.testdir({
    "tsconfig.json": JSON.stringify({ compilerOptions: options, include: ["src"] }),
    src: { cni: { "a.ts": "export {};\n" }, ipam: { "b.ts": 'import "../cni/a.ts";\n' } },
  });
  t.same(lint(directory), [0, [""]]);
});
