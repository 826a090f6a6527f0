/** The IPAM configuration that the meta-plugin flannel generates for its delegate. */

import { member, textOf } from "../../cli/command/json-values.ts";
import type { Json, JsonObject } from "../../cni/json.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import { flannelSubnets } from "../../ipam/subnet-env.ts";
import type { System } from "../../system/system.ts";

/** The file to which flanneld writes the subnets of its node, unless `subnetFile` is set. */
const DEFAULT_SUBNET_FILE = "/run/flannel/subnet.env";

const LARGEST_SUBNET_FILE = 64 * 1024;

/** Whether a plugin configuration is flannel's and uses its default IPAM plugin, host-local. */
export function isFlannelWithDefault(plugin: JsonObject): boolean {
  if (textOf(member(plugin, "type")) !== "flannel") return false;
  return textOf(member(member(plugin, "ipam"), "type")) === "";
}

/**
 * The ranges that flannel gives its delegate: the subnets of this node.
 *
 * @throws SystemError if the subnet file cannot be read
 * @throws CniError if a subnet in it is not a network
 */
export function flannelRanges(system: System, plugin: JsonObject): Json {
  const path = textOf(member(plugin, "subnetFile")) || DEFAULT_SUBNET_FILE;
  const text = system.readFile(path, LARGEST_SUBNET_FILE);
  return flannelSubnets(text).map(({ subnet }) => [{ subnet: formatPrefix(subnet) }]);
}
