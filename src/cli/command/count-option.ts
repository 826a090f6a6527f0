/** Options whose value is a number of things. */

import { type Context, type Option, UsageError } from "./command.ts";

/** Kubelet's `--max-pods` counts these pods, but they need no address. The number may be 0. */
export const hostNetworkPodsOption: Option = {
  name: "--host-network-pods",
  value: "N",
  summary: "number of pods with hostNetwork on a node (default: 0)",
};

/**
 * The value of an option, a whole number.
 *
 * @param least the smallest value that it may have
 * @returns `undefined` if the option was not given
 * @throws UsageError
 */
export function countOption(
  { option }: Context,
  name: string,
  least: 0n | 1n = 1n,
): bigint | undefined {
  const text = option(name);
  if (text === undefined) return undefined;
  const count = /^[0-9]{1,40}$/.test(text) ? BigInt(text) : -1n;
  if (count >= least) return count;
  throw new UsageError(
    `${name}: expected a ${least === 0n ? "number" : "positive integer"}, found ${text}`,
  );
}
