// test: own process
/** `npm run lint` is red for a planted arrow, folder, comment, title and name of a function, and names each. */

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

/** One character longer than a title may be. */
const title = "a".repeat(91);

/** In tests, and of an engine, a function may have the name of another. */
const serve = "export function serve(): void {}\n";

test("what is planted is named, also the import of a type", async (t) => {
  const directory = t.testdir({
    "tsconfig.json": JSON.stringify({ compilerOptions: options, include: ["src", "test"] }),
    src: {
      ipam: {
        "a.ts": 'import type { Lock } from "../store/lock.ts";\nexport type A = Lock;\n',
        "b.ts": `/** ${comment} */\nexport const late = import("../store/lock.ts");\n`,
      },
      store: {
        "lock.ts": 'import "node:fs";\nexport interface Lock {}\n',
        "owner.ts": "export function ownerOf(): void {}\nexport interface Pod {}\n",
        "pod.ts":
          "export function ownerOf(a: 1): 1;\nexport function ownerOf(a: 2): 2;\nexport class Pod {}\n",
      },
      system: { node: { "serve.ts": serve }, quickjs: { "serve.ts": serve } },
    },
    test: {
      ipam: { ranges: { "c.test.ts": `${serve}test("${title}", () => {});\n` } },
      "d.test.ts": `test(\n  \`${title}\`, () => {});\ntest("${title.slice(1)}", () => {});\n`,
    },
  });
  const arrow = "scripts/lint/arrows.ts has no arrow from ipam to store";
  t.same(lint(directory), [
    1,
    [
      `src/ipam/a.ts: ${arrow}`,
      `src/ipam/b.ts: ${arrow}`,
      "test/ipam/ranges: src/ has no such folder, which it would be the tests of",
      `src/ipam/b.ts:1: a doc comment names what it documents, found: ${comment}`,
      `test/d.test.ts: a title has at most 90 characters, found: ${title}`,
      `test/ipam/ranges/c.test.ts: a title has at most 90 characters, found: ${title}`,
      "src/store/owner.ts, src/store/pod.ts: each exports ownerOf",
      "src/store/owner.ts, src/store/pod.ts: each exports Pod",
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
