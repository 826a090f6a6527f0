/** How old a file is, by a clock that may have been set. */

/**
 * Whether something is younger than `least`, by its date. A date that is further ahead than that is of a clock which was wrong
 * and has been set back, by hours or years: it tells no age, and so is not of just now.
 *
 * @param dated the date, in milliseconds since the epoch
 * @param now as `dated`
 * @param least in milliseconds
 * @example isYoung(now + 3_600_000, now, 10_000); // false: the clock was an hour ahead
 */
export function isYoung(dated: number, now: number, least: number): boolean {
  return Math.abs(now - dated) < least;
}
