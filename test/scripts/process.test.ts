// test: own process
/** The runner of test files tells what failed in which file, and where a file was that did not end. */

import { relative } from "node:path";
import { type Test, test } from "tap";
import { runTestFiles } from "../../scripts/test/process.ts";
import type { FileResult } from "../../scripts/test/tap-output.ts";

const passing = `import { test } from "tap";
test("one passes", (t) => { t.ok(true); t.ok(true); t.end(); });
test("one is skipped", { skip: "for a reason" }, () => {});
`;

const failing = `import { test } from "tap";
test("one fails", (t) => { t.ok(true); t.equal(1, 2); t.end(); });
`;

/** Gives way to nothing, and leaves the processor to others. */
const blocking = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";

const endless = `import { test } from "tap";
test("one passes", (t) => { t.ok(true); t.end(); });
test("one with others", (t) => {
  t.test("comes to its end", (t) => t.end());
  t.test("does not", (t) => { t.ok(true); ${blocking} });
  t.end();
});
`;

const waiting = `import { test } from "tap";
test("one waits", async () => { setInterval(() => {}, 1000); await new Promise(() => {}); });
`;

const unloadable = 'throw new Error("no such luck");\n';

const unended = /^The file did not come to its end: /m;

/** Runs files with these texts together, for at most some seconds. */
function run(t: Test, texts: readonly string[], longest: number): Promise<readonly FileResult[]> {
  const directory = t.testdir(
    Object.fromEntries(texts.map((text, index) => [`${index}.test.ts`, text])),
  );
  const paths = texts.map((_, index) => relative(".", `${directory}/${index}.test.ts`));
  return runTestFiles(paths, {}, longest);
}

test("files that share a process are counted as if they were alone", async (t) => {
  const together = await run(t, [passing, failing, passing], 60);
  for (const [index, text] of [passing, failing, passing].entries()) {
    const [alone] = await run(t, [text], 60);
    for (const result of [alone, together[index]]) {
      t.match(
        result,
        text === passing
          ? { passed: 2, failed: 0, skipped: 1, skipReasons: ["for a reason"], report: "" }
          : { passed: 1, failed: 1, skipped: 0, report: /^ *not ok 2 - should be equal/ },
      );
    }
  }
});

test("a file that cannot be loaded says why", async (t) => {
  t.match(await run(t, [unloadable], 60), [{ failed: 1, report: /no such luck/ }]);
  t.match(await run(t, [unloadable, passing], 60), [
    { failed: 1, report: /no such luck/ },
    { failed: 0, passed: 2, report: "" },
  ]);
});

test("a file that never gives way is killed, and says in which test it was", async (t) => {
  const [result] = await run(t, [endless], 10);
  t.match(result, {
    failed: 1,
    report: /it took longer than 10 s, in: one with others > does not$/,
  });
});

test("a file that waits for nothing says in which test it was; the next had no turn", async (t) => {
  t.match(await run(t, [passing, waiting, passing], 10), [
    { failed: 0, passed: 2 },
    { failed: 1, report: /timeout!\n(.*\n)*.*not ok \d - one waits/ },
    { failed: 1, report: unended },
  ]);
});
