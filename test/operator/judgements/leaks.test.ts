/** Which reservations hold an address for nobody: by who lives. */

import { test } from "tap";
import { leaksAmong } from "../../../src/operator/judgements/leaks.ts";
import { known, owned } from "./conclusions.ts";

const MINUTE = 60_000;

for (const [what, shown, uptime, expected] of [
  ["one of which nothing is known", "unknown", undefined, "0 leaked, 1 unknown of 1"],
  [
    "one from before this boot, which ADD takes",
    "beforeBoot",
    99 * MINUTE,
    "0 leaked, 0 unknown of 1",
  ],
] as const) {
  test(`${what}: ${expected}`, async (t) => {
    const now = Number(owned.since) + 11 * MINUTE;
    const { judged, leaked, unknown, judgedFrom } = leaksAmong([known(shown)], now, uptime);
    t.equal(`${leaked.length} leaked, ${unknown.length} unknown of ${judged}`, expected);
    t.equal(judgedFrom, undefined);
  });
}
