// test: own process
/** The runner of test files tells what failed in which file, and where a file was that did not end. */

import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { test } from "tap";
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
test("one with others", async (t) => {
  t.test("comes to its end", (t) => t.end());
  t.test("does not", (t) => { t.ok(true); ${blocking} });
});
`;

const waiting = `import { test } from "tap";
test("one waits", async () => { setInterval(() => {}, 1000); await new Promise(() => {}); });
`;

const unloadable = 'throw new Error("no such luck");\n';

/** Longer than any of these files takes that comes to its end, in seconds. */
const LONG = 600;

const unended = /^The file did not come to its end: /m;

/** Runs files with these texts together, in an empty directory, for at most some seconds. */
function run(
  directory: string,
  texts: readonly string[],
  longest: number,
): Promise<readonly FileResult[]> {
  const paths = texts.map((text, index) => {
    const path = `${directory}/${index}.test.ts`;
    writeFileSync(path, text);
    return relative(".", path);
  });
  return runTestFiles(paths, {}, longest);
}

const ofPassing = { passed: 2, failed: 0, skipped: 1, skipReasons: ["for a reason"], report: "" };
const ofFailing = { passed: 1, failed: 1, skipped: 0, report: /^ *not ok 2 - should be equal/ };
const ofUnloadable = { failed: 1, report: /no such luck/ };

for (const [what, texts, results] of [
  ["a file that fails", [failing], [ofFailing]],
  ["a file that cannot be loaded", [unloadable], [ofUnloadable]],
  [
    "each of several files that share a process",
    [passing, failing, unloadable, passing],
    [ofPassing, ofFailing, ofUnloadable, ofPassing],
  ],
] as const) {
  test(`${what} is counted, and what failed is told`, async (t) => {
    t.match(await run(t.testdir(), texts, LONG), results);
  });
}

test("files that do not come to their end say in which test they were", async (t) => {
  const directory = t.testdir({ blocking: {}, waiting: {}, passing: {} });
  const began = performance.now();
  await run(`${directory}/passing`, [passing, passing], LONG);
  // They come to where they hang in less time than others to their end, however busy the machine.
  const longest = 3 + Math.ceil((3 * (performance.now() - began)) / 1000);
  const [[blocked], waited] = await Promise.all([
    run(`${directory}/blocking`, [endless], longest),
    run(`${directory}/waiting`, [passing, waiting, passing], longest),
  ]);
  const reason = `it took longer than ${longest} s, in: one with others > does not`;
  t.match(
    blocked,
    { failed: 1, report: new RegExp(`${reason}$`) },
    "one that never gives way is killed",
  );
  t.match(
    waited,
    [
      { failed: 0, passed: 2 },
      { failed: 1, report: /timeout!\n(.*\n)*.*not ok \d - one waits/ },
      { failed: 1, report: unended },
    ],
    "after one that waits for nothing the next has no turn",
  );
});
