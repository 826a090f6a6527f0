/** The IPAM configuration that the meta-plugin flannel generates for its delegate. */

import type { Json, JsonObject } from "../../cni/json.ts";
import { addressAt } from "../../ipam/address.ts";
import { addressRangeOf, formatPrefix, parsePrefix } from "../../ipam/prefix.ts";
import type { System } from "../../system/system.ts";
import { member, textOf } from "./json-values.ts";

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
 */
export function flannelRanges(system: System, plugin: JsonObject): Json {
  const path = textOf(member(plugin, "subnetFile")) || DEFAULT_SUBNET_FILE;
  const settings = system.readFile(path, LARGEST_SUBNET_FILE);
  return ["FLANNEL_SUBNET", "FLANNEL_IPV6_SUBNET"].flatMap((name) => {
    const subnet = subnetIn(settings, name);
    return subnet === undefined ? [] : [[{ subnet }]];
  });
}

/** The network of a line such as `FLANNEL_SUBNET=10.244.0.1/24`. */
function subnetIn(settings: string, name: string): string | undefined {
  const line = settings.split("\n").find((one) => one.startsWith(`${name}=`));
  const prefix = parsePrefix(line?.slice(name.length + 1).trim() ?? "");
  if (prefix === undefined) return undefined;
  const { family, value } = addressRangeOf(prefix).first;
  return formatPrefix({ ...prefix, address: addressAt(family, value) });
}
