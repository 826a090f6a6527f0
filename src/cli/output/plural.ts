import { decimal } from "../../ipam/decimal.ts";

/**
 * A number with its noun.
 *
 * @example plural(1n, "node"); // "1 node"
 * @example plural(256n, "address"); // "256 addresses"
 */
export function plural(count: bigint | number, noun: string): string {
  return `${decimal(BigInt(count))} ${nounFor(count, noun)}`;
}

/** A noun, in the form that follows a number. */
export function nounFor(count: bigint | number, noun: string): string {
  if (BigInt(count) === 1n) return noun;
  return `${noun}${noun.endsWith("s") ? "es" : "s"}`;
}

/**
 * A verb, in the form that follows a number.
 *
 * @example verbFor(1n, "overlaps", "overlap"); // "overlaps"
 */
export function verbFor(count: bigint | number, singular: string, pluralForm: string): string {
  return BigInt(count) === 1n ? singular : pluralForm;
}
