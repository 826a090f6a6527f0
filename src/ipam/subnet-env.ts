/** The subnets of a node in flannel's file `subnet.env`. */

import { internalError } from "../cni/error.ts";
import { addressRangeOf, type Prefix, parsePrefix } from "./prefix.ts";

/** A subnet and the variable that names it. */
interface FlannelSubnet {
  readonly variable: string;
  /** Without host bits: the file has the address of the gateway, the first of the subnet. */
  readonly subnet: Prefix;
}

const VARIABLES = ["FLANNEL_SUBNET", "FLANNEL_IPV6_SUBNET"];

/** Whether a text is a `subnet.env`: it has a line such as `FLANNEL_MTU=1450`. */
export function isSubnetEnv(text: string): boolean {
  return /^\s*FLANNEL_\w+=/m.test(text);
}

/**
 * The subnets of the node, IPv4 first, of which flannel makes one range set each. As in flannel, of a repeated variable
 * the last one counts; an empty one counts as absent.
 *
 * @throws CniError 999 where one is not a network
 */
export function flannelSubnets(text: string): readonly FlannelSubnet[] {
  const lines = text.split("\n").map((line) => line.trim());
  return VARIABLES.flatMap((variable) => {
    const at = lines.findLastIndex((line) => line.startsWith(`${variable}=`));
    const written = lines[at]?.slice(variable.length + 1) ?? "";
    if (written === "") return [];
    const prefix = parsePrefix(written);
    if (prefix === undefined) {
      throw internalError(
        `invalid CIDR address: ${written}`,
        `expected a network such as "10.244.1.1/24" at ${variable}, line ${at + 1}`,
      );
    }
    return [{ variable, subnet: { ...prefix, address: addressRangeOf(prefix).first } }];
  });
}
