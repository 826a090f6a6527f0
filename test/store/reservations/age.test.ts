import { test } from "tap";
import { isYoung } from "../../../src/store/reservations/age.ts";

test("a date within the time before or after now is young; further ahead it is of a wrong clock", async (t) => {
  const now = 1_700_000_000_000;
  for (const [dated, expected] of [
    [now, true],
    [now - 9_999, true],
    [now - 10_000, false],
    [now + 60_000, true],
    [now + 60_001, false],
    [now + 3_600_000, false],
    [0, false],
  ] as const) {
    t.equal(isYoung(dated, now, 10_000), expected, String(dated - now));
  }
  t.equal(isYoung(now, now, 0), false, "without such a time nothing is that is not ahead");
});
