/** Durations: `90s`, `10m`, `3h`, `12d`. */

import { UsageError } from "./command.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A day, in milliseconds. */
export const DAY = 24 * HOUR;

const units: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/**
 * Parses a duration, such as `10m`.
 *
 * @param option the option it is the value of, for the error
 * @returns milliseconds
 * @throws UsageError
 */
export function parseDuration(text: string, option: string): number {
  const [, number, unit = ""] = /^([0-9]+)([smhd])$/.exec(text) ?? [];
  const length = units[unit];
  if (number === undefined || length === undefined) {
    throw new UsageError(
      `${option}: expected a duration such as 90s, 10m, 3h or 12d, found ${text}`,
    );
  }
  return Number(number) * length;
}

/**
 * Formats a duration in a unit that fits, as kubectl shows ages.
 *
 * @param milliseconds a negative duration counts as 0
 */
export function formatDuration(milliseconds: number): string {
  const [unit, length] =
    milliseconds < 2 * MINUTE
      ? (["s", SECOND] as const)
      : milliseconds < 2 * HOUR
        ? (["m", MINUTE] as const)
        : milliseconds < 2 * DAY
          ? (["h", HOUR] as const)
          : (["d", DAY] as const);
  return `${Math.max(0, Math.floor(milliseconds / length))}${unit}`;
}
