/** Points in time: `2026-01-31T03:00Z`, `2026-01-31 03:00`, `03:00`, or `3h` ago. */

import { UsageError } from "../../cli/command/command.ts";
import { DAY, parseDuration } from "../../cli/command/duration.ts";
import { timeText } from "../../cli/output/time.ts";

/** Date, time of day and offset from UTC (RFC 3339, also without seconds, without the offset or with a space). */
const form =
  /^(?:([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ](?=.)|$))?(?:([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$/;

/**
 * Parses a time in the past: UTC unless it has an offset; a time of day is that of today or, if that is still to come, of
 * yesterday; a date is its first moment, and a duration is counted back from now.
 *
 * @param option the option it is the value of, for the error
 * @param now in milliseconds since the epoch
 * @returns milliseconds since the epoch
 * @throws UsageError
 */
export function parseTime(text: string, option: string, now: number): number {
  const time = /^[0-9]+[smhd]$/.test(text) ? now - parseDuration(text, option) : parse(text, now);
  if (Number.isNaN(time)) {
    throw new UsageError(
      `${option}: expected a time in UTC such as 03:00, 2026-01-31 03:00 or 2026-01-31T03:00:00+01:00, or a duration ago such as 3h, found ${text}`,
    );
  }
  if (time > now) {
    throw new UsageError(
      `${option}: expected a time in the past, found ${text}; it is ${timeText(now)}`,
    );
  }
  return time;
}

function parse(text: string, now: number): number {
  const [matched = "", given, minute = "00:00", seconds = ":00", zone = "Z"] =
    form.exec(text) ?? [];
  if (matched === "") return Number.NaN;
  const date = given ?? timeText(now).slice(0, 10);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // Some engines take the 31st of each month.
  if (Number.isNaN(midnight) || timeText(midnight).slice(0, 10) !== date) return Number.NaN;
  const time = Date.parse(`${date}T${minute}${seconds}${zone}`);
  return given === undefined && time > now ? time - DAY : time;
}
