/** The options that kube-controller-manager has for numbering nodes, as it reads them. */

import { bitsOf, type Family } from "../../ipam/address.ts";
import { addressRangeOf, type Prefix, parsePrefix } from "../../ipam/prefix.ts";
import { CommandError, type Context, type Option } from "../command/command.ts";

/** The settings of today (``), or those that a cluster was numbered under (`was-`). */
export type OptionPrefix = "" | "was-";

/** Node masks as they were given: one for a cluster of one family, or one for each family. */
export type NodeMasks = Readonly<Record<"" | "-ipv4" | "-ipv6", number | undefined>>;

/** The options of one era. */
export function clusterOptions(optionPrefix: OptionPrefix, what: string): readonly Option[] {
  const mask = (suffix: string, value: string): Option => ({
    name: `--${optionPrefix}node-cidr-mask-size${suffix}`,
    value: "N",
    summary: `${what}${value}`,
  });
  return [
    {
      name: `--${optionPrefix}cluster-cidr`,
      value: "CIDR[,CIDR]",
      summary: `${what}addresses of all pods; one of each family for dual stack`,
    },
    mask("", "prefix length of a node's block, in a cluster of one family"),
    mask("-ipv4", "the same for IPv4"),
    mask("-ipv6", "the same for IPv6"),
  ];
}

/**
 * The cluster CIDRs of an option; none where it was not given. Host bits are cut off, as kube-controller-manager does.
 *
 * @throws CannotLook
 */
export function clusterCidrsOf({ option }: Context, optionPrefix: OptionPrefix): readonly Prefix[] {
  const name = `--${optionPrefix}cluster-cidr`;
  const text = option(name);
  if (text === undefined) return [];
  const prefixes = text.split(",").map((one) => {
    const prefix = parsePrefix(one.trim());
    if (prefix === undefined || prefix.mapped) {
      throw new CommandError(`${name}: expected a network such as 10.244.0.0/16, found ${one}`);
    }
    return { ...prefix, address: addressRangeOf(prefix).first };
  });
  const families = new Set(prefixes.map(({ address }) => address.family));
  if (families.size === prefixes.length) return prefixes;
  throw new CommandError(`${name}: expected one network, or one of each family, found ${text}`);
}

/**
 * The node masks of the options.
 *
 * @throws CannotLook where one is no prefix length, or both forms are given
 */
export function nodeMasksOf({ option }: Context, optionPrefix: OptionPrefix): NodeMasks {
  const name = `--${optionPrefix}node-cidr-mask-size`;
  const read = (suffix: string, most: number): number | undefined => {
    const text = option(`${name}${suffix}`);
    if (text === undefined) return undefined;
    // Written as 24 or, as people do, as /24.
    const [, digits] = /^\/?([0-9]{1,3})$/.exec(text) ?? [];
    const length = Number(digits);
    if (length >= 1 && length <= most) return length;
    throw new CommandError(`${name}${suffix}: expected a number from 1 to ${most}, found ${text}`);
  };
  const masks = { "": read("", 128), "-ipv4": read("-ipv4", 32), "-ipv6": read("-ipv6", 128) };
  if (masks[""] === undefined) return masks;
  if (masks["-ipv4"] === undefined && masks["-ipv6"] === undefined) return masks;
  throw new CommandError(`${name} does not go with ${name}-ipv4 and ${name}-ipv6`);
}

/**
 * The node mask of one family; `undefined` where none was given.
 *
 * @param families those of the cluster
 * @throws CannotLook where kube-controller-manager would refuse the option for such a cluster
 */
export function nodeMaskOf(
  masks: NodeMasks,
  family: Family,
  families: readonly Family[],
  optionPrefix: OptionPrefix,
): number | undefined {
  const name = `--${optionPrefix}node-cidr-mask-size`;
  const mask = masks[""];
  if (mask === undefined) {
    for (const other of [4, 6] as const) {
      if (masks[`-ipv${other}`] !== undefined && !families.includes(other)) {
        throw new CommandError(`${name}-ipv${other}: the cluster CIDR has no IPv${other} network`);
      }
    }
    return masks[`-ipv${family}`];
  }
  if (families.length > 1) {
    throw new CommandError(
      `${name} is for a cluster of one family; give ${name}-ipv4 and ${name}-ipv6 for two`,
    );
  }
  if (mask <= bitsOf(family)) return mask;
  throw new CommandError(`${name}: expected at most ${bitsOf(family)} for IPv4, found ${mask}`);
}
