/** Options that count something. */

import { CommandError, type Context } from "./command.ts";

/**
 * The value of an option, a whole number from 1 on.
 *
 * @returns `undefined` where the option was not given
 * @throws CannotLook
 */
export function countOption({ option }: Context, name: string): bigint | undefined {
  const text = option(name);
  if (text === undefined) return undefined;
  const count = /^[0-9]{1,40}$/.test(text) ? BigInt(text) : 0n;
  if (count > 0n) return count;
  throw new CommandError(`${name}: expected a whole number from 1 on, found ${text}`);
}
