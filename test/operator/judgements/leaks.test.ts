/** Which reservations hold an address for nobody: by who lives, by their age, and by how long the node has been up. */

import { test } from "tap";
import { countWithoutProcess, leaksAmong } from "../../../src/operator/judgements/leaks.ts";
import { known, owned, unowned } from "./conclusions.ts";

const MINUTE = 60_000;

/** So long after the reservation was made. */
const after = (minutes: number): number => Number(owned.since) + minutes * MINUTE;

for (const [what, all, age, uptime, expected] of [
  ["who has a process", [known("process")], 11, undefined, "0 leaked, 0 unknown of 1"],
  ["a dead one", [known("dead")], 11, undefined, "1 leaked, 0 unknown of 1"],
  ["a sandbox that may be lost", [known("idle")], 11, 99, "1 leaked, 0 unknown of 1"],
  ["one of which nothing is known", [known("unknown")], 11, undefined, "0 leaked, 1 unknown of 1"],
  ["a young one", [known("dead")], 9, undefined, "0 leaked, 0 unknown of 0"],
  [
    "one from before this boot, which ADD takes",
    [known("beforeBoot")],
    11,
    99,
    "0 leaked, 0 unknown of 1",
  ],
  [
    "a file that names no container",
    [known("dead", unowned)],
    11,
    undefined,
    "0 leaked, 0 unknown of 0",
  ],
  [
    "a young one on a node that has just started",
    [known("dead")],
    1,
    5,
    "1 leaked, 0 unknown of 1, from minute 6 on",
  ],
] as const) {
  test(`${what}: ${expected}`, async (t) => {
    const found = leaksAmong(all, after(age), uptime === undefined ? undefined : uptime * MINUTE);
    const { judged, leaked, unknown, judgedFrom } = found;
    const counts = `${leaked.length} leaked, ${unknown.length} unknown of ${judged}`;
    const from = judgedFrom === undefined ? "" : `, from minute ${judgedFrom / MINUTE} on`;
    t.equal(`${counts}${from}`, expected);
  });
}

test("who runs no process is counted once a runtime had the time to start one", async (t) => {
  const all = [known("idle"), known("idle"), known("process"), known("dead")];
  t.equal(countWithoutProcess(all, after(11)), 2);
  t.equal(countWithoutProcess(all, after(9)), 0);
});
