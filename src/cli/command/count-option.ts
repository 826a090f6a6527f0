/** Options whose value is a positive integer. */

import { type Context, UsageError } from "./command.ts";

/**
 * The value of an option, a positive integer.
 *
 * @returns `undefined` if the option was not given
 * @throws UsageError
 */
export function countOption({ option }: Context, name: string): bigint | undefined {
  const text = option(name);
  if (text === undefined) return undefined;
  const count = /^[0-9]{1,40}$/.test(text) ? BigInt(text) : 0n;
  if (count > 0n) return count;
  throw new UsageError(`${name}: expected a positive integer, found ${text}`);
}
