/** The subnets of a node in flannel's file `subnet.env`. */

import { internalError } from "../cni/error.ts";
import { isPartOf } from "../ipam/address.ts";
import {
  addressRangeOf,
  formatPrefix,
  networkOf,
  type Prefix,
  parsePrefix,
} from "../ipam/prefix.ts";

/** A subnet and the variable that names it. */
interface FlannelSubnet {
  readonly variable: string;
  /** The subnet, without host bits: the file has the address of the gateway, the first of the subnet. */
  readonly subnet: Prefix;
  /** flannel's networks of the family, in one of which it lies; none where the file has none. */
  readonly networks: readonly Prefix[];
}

/** The variables of the node's subnets, each with the variable of the networks in which it lies. */
const VARIABLES = [
  ["FLANNEL_SUBNET", "FLANNEL_NETWORK"],
  ["FLANNEL_IPV6_SUBNET", "FLANNEL_IPV6_NETWORK"],
] as const;

/** Whether a text is a `subnet.env`: it has a line such as `FLANNEL_MTU=1450`. */
export function isSubnetEnv(text: string): boolean {
  return /^\s*FLANNEL_\w+=/m.test(text);
}

/**
 * The subnets of the node, IPv4 first, of which flannel makes one range set each. As in flannel, of a repeated variable
 * the last one counts; an empty one counts as absent. A last line without its end is none: the file may be cut off, and
 * `10.244.1.1/2` is a network, too. flanneld writes the network and the subnet of a family one after the other.
 *
 * @throws CniError 999 where one is no network, lies outside of flannel's networks, or is missing beside the network of its
 * family
 */
export function flannelSubnets(text: string): readonly FlannelSubnet[] {
  const lines = text.split("\n").slice(0, -1);
  return VARIABLES.flatMap(([variable, around]) => {
    const assigned = assignmentOf(variable, lines);
    const network = assignmentOf(around, lines);
    if (assigned.value === "") {
      if (network.value !== "") throw withoutSubnet(network, variable);
      return [];
    }
    const prefix = networkIn(assigned.value, assigned);
    const networks = networksOf(network);
    const subnet = networkOf(prefix);
    requireWithin(assigned, subnet, around, networks);
    return [{ variable, subnet, networks }];
  });
}

interface Assignment {
  readonly variable: string;
  /** Empty where there is none. */
  readonly value: string;
  /** The number of the line, from 1 on. */
  readonly line: number;
}

function assignmentOf(variable: string, lines: readonly string[]): Assignment {
  const at = lines.findLastIndex((line) => line.trim().startsWith(`${variable}=`));
  return { variable, value: lines[at]?.trim().slice(variable.length + 1) ?? "", line: at + 1 };
}

function networkIn(text: string, { variable, line }: Assignment): Prefix {
  const prefix = parsePrefix(text);
  if (prefix !== undefined) return prefix;
  throw internalError(
    `invalid CIDR address: ${text}`,
    `expected a network such as "10.244.1.1/24" at ${variable}, line ${line}`,
  );
}

/** One network, or several with a comma between them. */
function networksOf(assigned: Assignment): readonly Prefix[] {
  const texts = assigned.value === "" ? [] : assigned.value.split(",");
  return texts.map((text) => networkIn(text, assigned));
}

/** Pods of two families would else get an address of one alone. */
function withoutSubnet({ variable, value, line }: Assignment, subnet: string): Error {
  return internalError(
    `${variable} ${value} without ${subnet}`,
    `at ${variable}, line ${line}: the file may be cut off; expected the subnet of this node in the next line`,
  );
}

/** @param networks none where they are not known */
function requireWithin(
  { variable, value, line }: Assignment,
  subnet: Prefix,
  around: string,
  networks: readonly Prefix[],
): void {
  const range = addressRangeOf(subnet);
  const isIn = (network: Prefix): boolean => isPartOf(range, addressRangeOf(network));
  if (networks.length === 0 || networks.some(isIn)) return;
  throw internalError(
    `${variable} ${value} is not in ${around} ${networks.map(formatPrefix).join(",")}`,
    `at ${variable}, line ${line}: the file may be cut off, or of another cluster`,
  );
}
