/**
 * A number with its noun.
 *
 * @example plural(1n, "node"); // "1 node"
 * @example plural(256n, "node"); // "256 nodes"
 */
export function plural(count: bigint | number, noun: string): string {
  return `${count} ${noun}${BigInt(count) === 1n ? "" : "s"}`;
}
