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

for (const [what, seconds] of [
  ["a later one that is in the journal, too", [101, 102]],
  ["only earlier ones", [51, 53]],
  ["one of a call that may be under way", [999]],
] as const) {
  test(`after the installation: ${what}: 0`, async (t) => {
    t.same(unrecordedSince(100 * SECOND, seconds.map(reserved), isRecorded, now), []);
  });
}
