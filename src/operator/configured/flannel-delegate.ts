/** The plugin that flannel calls, with the configuration that it makes for it. */

import { textOf } from "../../cli/command/json-values.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import { isObject, type Json, type JsonObject, valueInAnyCase } from "../../cni/json.ts";
import { flannelSubnets } from "../../configuration/subnet-env.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import { isSystemError, LARGEST_FILE, type System } from "../../system/system.ts";
import { PLUGIN } from "./plugin-directories.ts";

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
 * @param report receives why its ranges are not known
 */
export function flannelDelegate(
  system: System,
  plugin: JsonObject,
  report: (problem: string) => void,
): JsonObject {
  const { name = "", cniVersion = "" } = plugin;
  const capabilities = valueInAnyCase(plugin, "capabilities") ?? null;
  // flannel, too, leaves alone what is there, even `null`.
  const delegate: JsonObject = { type: "bridge", ...objectAt(plugin, "delegate") };
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

/** One range set for each family, of the subnets of this node; none where they are not known. */
function rangesOf(system: System, plugin: JsonObject, report: (problem: string) => void): Json {
  try {
    const path = textOf(valueInAnyCase(plugin, "subnetFile")) || "/run/flannel/subnet.env";
    const text = system.readFile(path, LARGEST_FILE);
    return flannelSubnets(text).map(({ subnet }) => [{ subnet: formatPrefix(subnet) }]);
  } catch (error) {
    if (!(isSystemError(error) || error instanceof CniError)) throw error;
    report(`cannot read the subnets of flannel: ${messageWithDetails(error)}`);
    return [];
  }
}
