/**
 * A number with its noun.
 *
 * @example plural(1n, "node"); // "1 node"
 * @example plural(256n, "address"); // "256 addresses"
 */
export function plural(count: bigint | number, noun: string): string {
  if (BigInt(count) === 1n) return `${count} ${noun}`;
  return `${count} ${noun}${noun.endsWith("s") ? "es" : "s"}`;
}
