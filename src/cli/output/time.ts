/** Times as commands print them. */

const MINUTE = 60_000;

/**
 * A time at which something is over, for people: the next full minute, with the date if that is not the one of `now`.
 *
 * @param time in milliseconds since the epoch, as `now`
 * @example formatMinute(Date.UTC(2026, 0, 31, 14, 46, 12), now); // "14:47 UTC"
 */
export function formatMinute(time: number, now: number): string {
  const minute = timeText(Math.ceil(time / MINUTE) * MINUTE);
  const [date = "", clock = ""] = minute.split("T");
  const isToday = timeText(now).startsWith(date);
  return `${isToday ? "" : `${date} `}${clock.slice(0, 5)} UTC`;
}

/** A time as programs read it, and tables of the past have it: RFC 3339 in UTC, with milliseconds. */
export function timeText(time: number): string {
  return new Date(time).toISOString();
}
