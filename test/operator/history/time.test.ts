import { test } from "tap";
import { parseTime } from "../../../src/operator/history/time.ts";

const now = Date.parse("2026-02-02T10:30:00.000Z");

for (const [text, time] of [
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["10:30", "2026-02-02T10:30:00.000Z"],
  ["10:31", "2026-02-01T10:31:00.000Z"],
  ["90s", "2026-02-02T10:28:30.000Z"],
] as const) {
  test(`${text} is ${time}`, async (t) => {
    t.equal(new Date(parseTime(text, "--at", now)).toISOString(), time);
  });
}

for (const text of ["2026-02-30", "-3h"]) {
  test(`${JSON.stringify(text)} is no time`, async (t) => {
    t.throws(() => parseTime(text, "--at", now), /^--at: expected a time in UTC such as 03:00/);
  });
}

test("a time in the future is refused", async (t) => {
  t.throws(() => parseTime("2026-02-02 10:31", "--since", now), {
    message:
      "--since: expected a time in the past, found 2026-02-02 10:31; it is 2026-02-02T10:30:00.000Z",
  });
});
