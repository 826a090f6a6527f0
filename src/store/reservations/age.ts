/** How old a file is, by a clock that may have been set. */

/** A clock need not be more exact, in milliseconds. */
const MOST_AHEAD = 60_000;

/**
 * Whether something is younger than `least`, by its date. A date that is further ahead is of a clock which was wrong and has been
 * set back, by hours or years: it tells no age, and so is not of just now.
 *
 * @param dated the date, in milliseconds since the epoch
 * @param now as `dated`
 * @param least in milliseconds
 * @example isYoung(now + 3_600_000, now, 10_000); // false: the clock was an hour ahead
 */
export function isYoung(dated: number, now: number, least: number): boolean {
  return now - dated < least && !isAhead(dated, now);
}

/** Whether a date is so far ahead that the clock was wrong; times as of `isYoung`. */
export function isAhead(dated: number, now: number): boolean {
  return dated - now > MOST_AHEAD;
}
