/** Which reservations hold an address for nobody: by who lives. */

import { test } from "tap";
import { leaksAmong } from "../../../src/operator/judgements/leaks.ts";
import { known, owned, unowned } from "./conclusions.ts";

const MINUTE = 60_000;

for (const [what, conclusion, uptime, expected] of [
  ["one of which nothing is known", known("unknown"), undefined, "0 leaked, 1 unknown of 1"],
  [
    "one from before this boot, which ADD takes",
    known("beforeBoot"),
    99 * MINUTE,
    "0 leaked, 0 unknown of 1",
  ],
  ["a file that names no container", known("dead", unowned), undefined, "0 leaked, 0 unknown of 0"],
] as const) {
  test(`${what}: ${expected}`, async (t) => {
    const now = Number(owned.since) + 11 * MINUTE;
    const { judged, leaked, unknown, judgedFrom } = leaksAmong([conclusion], now, uptime);
    t.equal(`${leaked.length} leaked, ${unknown.length} unknown of ${judged}`, expected);
    t.equal(judgedFrom, undefined);
  });
}
