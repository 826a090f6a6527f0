/** Whether a call of this plugin is on record for what was reserved after its installation. */

import { test } from "tap";
import type { NodeReservation } from "../../../src/operator/held/network-directory.ts";
import { unrecordedSince } from "../../../src/operator/judgements/unrecorded.ts";

const SECOND = 1000;
const now = 1000 * SECOND;

/** A reservation of a second; the journal lists those of even ones. */
function reserved(at: number): NodeReservation {
  return { since: at * SECOND } as NodeReservation;
}
const isRecorded = ({ since }: NodeReservation): boolean => (Number(since) / SECOND) % 2 === 0;

for (const [what, seconds, expected] of [
  ["two later ones, neither in the journal", [50, 101, 103], 2],
  ["a later one that is in the journal, too", [101, 102], 0],
  ["only earlier ones", [51, 53], 0],
  ["one of a call that may be under way", [999], 0],
] as const) {
  test(`after the installation: ${what}: ${expected}`, async (t) => {
    const found = unrecordedSince(100 * SECOND, seconds.map(reserved), isRecorded, now);
    t.equal(found.length, expected);
  });
}
