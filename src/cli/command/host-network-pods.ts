/** The option `--host-network-pods`: kubelet's `--max-pods` counts these pods, but they need no address. */

import { type Context, type Option, UsageError } from "./command.ts";

export const hostNetworkPodsOption: Option = {
  name: "--host-network-pods",
  value: "N",
  summary: "number of pods with hostNetwork on a node (default: 0)",
};

/**
 * The number of pods with hostNetwork on a node.
 *
 * @returns `undefined` if the option was not given
 * @throws UsageError unless it is a whole number
 */
export function hostNetworkPodsOf({ option }: Context): bigint | undefined {
  const { name } = hostNetworkPodsOption;
  const text = option(name);
  if (text === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return BigInt(text);
  throw new UsageError(`${name}: expected a number, found "${text}"`);
}
