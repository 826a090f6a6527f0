/** Whole numbers of any size as text. */

/** Parts of this size are far from the numbers that the engine gets wrong. */
const PART_DIGITS = 18;
const PART = 10n ** BigInt(PART_DIGITS);

/**
 * The decimal digits of a count, in parts: from 2^63 to 2^64 - 1, and from 2^127 to 2^128 - 1, `String` is undefined
 * behaviour in the QuickJS of Debian 13, see docs/packaging.md.
 *
 * @param count not negative
 */
export function decimal(count: bigint): string {
  if (count < PART) return String(count);
  return decimal(count / PART) + String(count % PART).padStart(PART_DIGITS, "0");
}
