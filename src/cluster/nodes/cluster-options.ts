/** The options of kube-controller-manager for the podCIDRs of nodes. */

import { type Context, type Option, UsageError } from "../../cli/command/command.ts";
import { bitsOf, type Family } from "../../ipam/address.ts";
import { addressRangeOf, formatPrefix, parsePrefix } from "../../ipam/prefix.ts";
import type { ClusterCidr } from "./node-cidrs.ts";

/** What the names of the options begin with: nothing for the settings to use, `was-` for those used so far. */
type OptionPrefix = "" | "was-";

/** The node masks given: one for a single-stack cluster, or one for each family. */
export interface NodeMasks {
  /** The families that they are for, if there is no cluster CIDR that says it; none where no mask was given. */
  readonly families: readonly Family[];
  /**
   * The node mask of one family; `undefined` where none was given.
   *
   * @param families those of the cluster
   * @throws UsageError where kube-controller-manager would reject the option for such a cluster
   */
  readonly of: (family: Family, families: readonly Family[]) => number | undefined;
}

/**
 * The definitions of the options.
 *
 * @param before what each summary begins with
 */
export function clusterOptions(optionPrefix: OptionPrefix, before: string): readonly Option[] {
  const mask = (suffix: string, summary: string): Option => ({
    name: `--${optionPrefix}node-cidr-mask-size${suffix}`,
    value: "N",
    summary: `${before}${summary}`,
  });
  return [
    {
      name: `--${optionPrefix}cluster-cidr`,
      value: "CIDR[,CIDR]",
      summary: `${before}the CIDR of all pods; one of each family for dual stack`,
    },
    mask("", "the prefix length of podCIDRs in a single-stack cluster"),
    mask("-ipv4", "the same for IPv4"),
    mask("-ipv6", "the same for IPv6"),
  ];
}

/**
 * The definition of `--service-cidr`: kube-controller-manager's `--service-cluster-ip-range`, and the ServiceCIDR objects
 * that were added to it.
 */
export const serviceCidrOption: Option = {
  name: "--service-cidr",
  value: "CIDR[,CIDR...]",
  summary:
    "the CIDRs of services, as `kubectl get servicecidrs` shows them; podCIDRs that overlap one are neither counted nor proposed",
};

/** The networks that `--service-cidr` gives, of any number. */
export function serviceCidrsOf(context: Context): readonly ClusterCidr[] {
  return networksIn(context, serviceCidrOption.name);
}

/**
 * The networks of pods that an option gives: one, or one of each family; none without it.
 *
 * @throws UsageError where one is not a network, or two are of one family
 */
export function clusterCidrsOf(context: Context, name: string): readonly ClusterCidr[] {
  const networks = networksIn(context, name);
  const families = new Set(networks.map(({ address }) => address.family));
  if (families.size === networks.length) return networks;
  const found = context.option(name);
  throw new UsageError(`${name}: expected one network, or one of each family, found ${found}`);
}

/** Host bits are cleared, as kube-controller-manager does, and reported. */
function networksIn({ option, log }: Context, name: string): readonly ClusterCidr[] {
  const text = option(name);
  if (text === undefined) return [];
  return text.split(",").map((word) => {
    const prefix = parsePrefix(word.trim());
    if (prefix === undefined || prefix.mapped) {
      throw new UsageError(`${name}: expected a network such as 10.244.0.0/16, found ${word}`);
    }
    const range = addressRangeOf(prefix);
    const network = { ...prefix, ...range, address: range.first };
    if (prefix.address.value !== range.first.value) {
      log(`${name}: ${word.trim()} has host bits set; the network is ${formatPrefix(network)}`);
    }
    return network;
  });
}

/**
 * The node masks given.
 *
 * @throws UsageError where one is no prefix length, or both forms are given
 */
export function nodeMasksOf({ option }: Context, optionPrefix: OptionPrefix): NodeMasks {
  const name = `--${optionPrefix}node-cidr-mask-size`;
  const read = (suffix: string, most: number): number | undefined => {
    const text = option(`${name}${suffix}`);
    if (text === undefined) return undefined;
    // Both 24 and /24.
    const [, digits] = /^\/?([0-9]{1,3})$/.exec(text) ?? [];
    const length = Number(digits);
    if (length >= 1 && length <= most) return length;
    throw new UsageError(`${name}${suffix}: expected a number from 1 to ${most}, found ${text}`);
  };
  const single = read("", 128);
  const masks = { 4: read("-ipv4", 32), 6: read("-ipv6", 128) };
  const own = ([4, 6] as const).filter((family) => masks[family] !== undefined);
  if (single !== undefined && own.length > 0) {
    throw new UsageError(`${name}: cannot be combined with ${name}-ipv4 or ${name}-ipv6`);
  }
  const maskOf: NodeMasks["of"] = (family, families) => {
    const other = own.find((family) => !families.includes(family));
    if (other !== undefined) {
      throw new UsageError(
        `${name}-ipv${other}: expected an IPv${other} network in the cluster CIDR, found none`,
      );
    }
    if (single !== undefined && families.length > 1) {
      throw new UsageError(`${name}: expected ${name}-ipv4 and ${name}-ipv6 for dual stack`);
    }
    if (single !== undefined && single > bitsOf(family)) {
      throw new UsageError(`${name}: expected at most ${bitsOf(family)} for IPv4, found ${single}`);
    }
    return single ?? masks[family];
  };
  const families: readonly Family[] = single === undefined ? own : [single > 32 ? 6 : 4];
  return { families, of: maskOf };
}
