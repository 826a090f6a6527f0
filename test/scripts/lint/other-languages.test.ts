// test: own process
/** `npm run lint` is red for a warning in the C host, and for what an analyzer finds. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "tap";
import { inRepository } from "../../harness/repository.ts";

const skip = ["git", "clang", "gcc"]
  .filter((program) => spawnSync(program, ["--version"]).status !== 0)
  .map((program) => `${program} is not installed`)
  .join(", ");

const planted: Readonly<Record<string, readonly [warning: string, text: string]>> = {
  "a function without a prototype": ["missing-prototypes", "int f(void) { return 0; }"],
  "memory that is freed twice": [
    "Attempt to free released memory",
    "#include <stdlib.h>\nvoid f(char *p);\nvoid f(char *p) { free(p); free(p); }",
  ],
  "a file that stays open": [
    "analyzer-file-leak",
    '#include <stdio.h>\nint f(const char *p);\nint f(const char *p) { return fopen(p, "r") != NULL; }',
  ],
  nothing: ["", "int f(void);\nint f(void) { return 0; }"],
};

for (const [what, [warning, text]] of Object.entries(planted)) {
  test(`${what} in C`, { skip: skip || false }, async (t) => {
    const script = readFileSync(inRepository("scripts/lint/other-languages.sh"), "utf8");
    const cwd = t.testdir({
      scripts: { lint: { "other-languages.sh": script } },
      build: { quickjs: { usr: { include: { quickjs: { "quickjs.h": "" } } } } },
      src: { "a.c": `#include <quickjs.h>\n${text}\n` },
    });
    for (const words of [["init"], ["add", "src", "scripts"]]) spawnSync("git", words, { cwd });

    const { status, stderr } = spawnSync("bash", ["scripts/lint/other-languages.sh"], { cwd });

    t.equal(status !== 0, what !== "nothing");
    t.match(String(stderr), warning);
  });
}
