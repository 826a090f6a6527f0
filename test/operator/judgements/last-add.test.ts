/** When an ADD was last seen, and whether a call of this plugin is on record for it. */

import { test } from "tap";
import type { NodeReservation } from "../../../src/operator/held/network-directory.ts";
import { lastAddSeen, unrecordedSince } from "../../../src/operator/judgements/last-add.ts";

const SECOND = 1000;
const now = 1000 * SECOND;

/** A reservation of a second; the journal lists those of even ones. */
function reserved(at: number): NodeReservation {
  return { since: at * SECOND } as NodeReservation;
}
const isRecorded = ({ since }: NodeReservation): boolean => (Number(since) / SECOND) % 2 === 0;

for (const [what, cursor, reservations, expected] of [
  ["nothing", undefined, [], undefined],
  ["a reservation in the journal", 100, [50, 100], { time: 100, isRecorded: true }],
  ["one that is not", 101, [50, 101], { time: 101, isRecorded: false }],
  ["one whose pod has gone", 200, [50, 101], { time: 200, isRecorded: undefined }],
  ["one of a call that may be under way", 999, [50, 999], { time: 999, isRecorded: undefined }],
] as const) {
  test(`the last ADD, by ${what}`, async (t) => {
    const traces = {
      cursor: cursor === undefined ? undefined : cursor * SECOND,
      reservations: reservations.map(reserved),
    };
    const inSeconds = expected && { ...expected, time: expected.time * SECOND };
    t.strictSame(lastAddSeen(traces, isRecorded, now), inSeconds);
    t.equal(lastAddSeen(traces, undefined, now)?.isRecorded, undefined, "no journal can tell");
  });
}

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
