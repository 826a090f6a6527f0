/**
 * A number with what it counts.
 *
 * @example counted(1n, "node"); // "1 node"
 * @example counted(256n, "node"); // "256 nodes"
 */
export function plural(count: bigint | number, what: string): string {
  return `${count} ${what}${BigInt(count) === 1n ? "" : "s"}`;
}
