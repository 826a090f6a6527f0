/**
 * Runs tests of several files in this process, one file after the other, and prints TAP. A comment names each file
 * before its tests, and two count them and their time afterwards, in tap's words.
 *
 * Usage: node scripts/test/room.ts FILE...
 */

import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const files = process.argv.slice(2);
// tap names directories after all words of the command line, which would be too long: the first file will do.
process.argv.splice(3);
const { t } = await import("tap");

for (const file of files) {
  console.log(`# file: ${file}`);
  // As if it had been started alone, which those do that start themselves once more.
  process.argv[1] = resolve(file);
  const began = performance.now();
  const before = { ...t.counts };
  let broken: unknown;
  // Under way while the file is loaded: tap ends where it has no test for a moment, and one has asked for a teardown.
  await t.test("the file can be loaded", async (first) => {
    try {
      await import(pathToFileURL(resolve(file)).href);
      first.pass();
    } catch (error) {
      broken = error;
      first.fail(String(error));
    }
  });
  // Tests run in their order, so that this one is the last of the file.
  await t.test("the file has come to its end", async (last) => last.pass());
  // What has been printed is counted after that.
  await setImmediate();
  const { total, pass, fail, skip, todo } = t.counts;
  const own = broken === undefined ? 2 : 1;
  const counts = {
    total: total - before.total - own,
    pass: pass - before.pass - own,
    fail: fail - before.fail,
    skip: skip - before.skip,
    todo: todo - before.todo,
  };
  const words = Object.entries(counts).map(([name, count]) => `${name}: ${count}`);
  console.log(`# { ${words.join(", ")} }\n# time=${performance.now() - began}ms`);
}
