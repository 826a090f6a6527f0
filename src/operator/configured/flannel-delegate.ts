/** The plugin that flannel calls, with the configuration that it makes for it. */

import { textOf } from "../../cli/command/json-values.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import { isObject, type Json, type JsonObject, valueInAnyCase } from "../../cni/json.ts";
import { flannelSubnets } from "../../configuration/subnet-env.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { PLUGIN } from "./plugin-directories.ts";

/** The file to which flanneld writes the subnets of its node, unless `subnetFile` is set. */
export const DEFAULT_SUBNET_FILE = "/run/flannel/subnet.env";

/** The largest such file, in bytes. */
export const LARGEST_SUBNET_FILE = 64 * 1024;

/** Whether a plugin configuration is flannel's. */
export function isFlannel(plugin: JsonObject): boolean {
  return textOf(valueInAnyCase(plugin, "type")) === "flannel";
}

/** Whether a plugin configuration is flannel's and uses its default IPAM plugin, host-local. */
export function isFlannelWithDefault(plugin: JsonObject): boolean {
  return isFlannel(plugin) && textOf(valueInAnyCase(valueInAnyCase(plugin, "ipam"), "type")) === "";
}

/**
 * What flannel sends its delegate: what is in `delegate`, else the plugin `bridge` with the gateway's address on it; and in
 * `ipam` the subnets of this node. The members `name`, `cniVersion` and `capabilities` are flannel's own.
 *
 * @param report receives why flannel would refuse it, or why its ranges are not known
 */
export function flannelDelegate(
  system: System,
  plugin: JsonObject,
  report: (problem: string) => void,
): JsonObject {
  const { name = "", cniVersion = "" } = plugin;
  const capabilities = valueInAnyCase(plugin, "capabilities") ?? null;
  const given = objectAt(plugin, "delegate");
  for (const key of ["name", "ipam"]) {
    if (Object.hasOwn(given, key)) report(`flannel refuses a delegate with ${key}: it sets that`);
  }
  // As flannel, which leaves alone what is there, be it null.
  const delegate: JsonObject = { type: "bridge", ...given };
  const isBridge = textOf(valueInAnyCase(delegate, "type")) === "bridge";
  return {
    ...(isBridge ? { isGateway: true } : {}),
    ...delegate,
    name,
    cniVersion,
    capabilities,
    ipam: {
      ...objectAt(plugin, "ipam"),
      ...(isFlannelWithDefault(plugin) ? { type: PLUGIN } : {}),
      ranges: rangesOf(system, plugin, report),
    },
  };
}

function objectAt(plugin: JsonObject, key: string): JsonObject {
  const value = valueInAnyCase(plugin, key) ?? null;
  return isObject(value) ? value : {};
}

/** What flannel's plugin needs in its file: one of each line. */
const NEEDED = [
  ["FLANNEL_NETWORK", "FLANNEL_IPV6_NETWORK"],
  ["FLANNEL_SUBNET", "FLANNEL_IPV6_SUBNET"],
  ["FLANNEL_MTU"],
  ["FLANNEL_IPMASQ"],
] as const;

function missingIn(subnetEnv: string): readonly string[] {
  const isSet = (name: string): boolean => new RegExp(`^\\s*${name}=`, "m").test(subnetEnv);
  return NEEDED.flatMap((names) => (names.some(isSet) ? [] : [names.join(" or ")]));
}

/** One range set for each family, of the subnets of this node; none where they are not known. */
function rangesOf(system: System, plugin: JsonObject, report: (problem: string) => void): Json {
  const path = textOf(valueInAnyCase(plugin, "subnetFile")) || DEFAULT_SUBNET_FILE;
  try {
    const text = system.readFile(path, LARGEST_SUBNET_FILE);
    const subnets = flannelSubnets(text);
    const missing = missingIn(text);
    if (missing.length > 0) report(`flannel refuses ${path}: it lacks ${missing.join(", ")}`);
    return subnets.map(({ subnet }) => [{ subnet: formatPrefix(subnet) }]);
  } catch (error) {
    if (!(isSystemError(error) || error instanceof CniError)) throw error;
    report(`cannot read the subnets of flannel: ${messageWithDetails(error)}`);
    return [];
  }
}
