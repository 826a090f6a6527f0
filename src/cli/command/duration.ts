/** Durations: `90s`, `10m`, `3h`, `12d`. */

import { UsageError } from "./command.ts";

/** A day, in milliseconds. */
export const DAY = 86_400_000;

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY };

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
  const [unit, length] = Object.entries(units).findLast(
    ([, unitLength]) => milliseconds >= 2 * unitLength,
  ) ?? ["s", 1000];
  return `${Math.max(0, Math.floor(milliseconds / length))}${unit}`;
}
