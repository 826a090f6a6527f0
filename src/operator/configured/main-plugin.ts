/** The main plugin of a network: what it connects pods to, as configured. */

import { textOf } from "../../cli/command/json-values.ts";
import { type JsonObject, valueInAnyCase } from "../../cni/json.ts";
import { PLUGIN } from "./plugin-directories.ts";

/** What is known of the main plugin of a network. */
export interface MainPlugin {
  /** The bridge that has the gateways' addresses; `undefined` if there is none. */
  readonly bridge: Bridge | undefined;
  /** The interface that the `bridge` plugin takes as its bridge, with a gateway or not; `undefined` with other plugins. */
  readonly bridgeName: string | undefined;
  /** Whether the node itself reaches the pods by a route of its own: by a bridge that has the gateway, or by `ptp`. */
  readonly isRouted: boolean;
  /**
   * The link on which pods meet each other, and others: the bridge or the `master`, with the VLAN on it, such as `eth0.5`.
   * `undefined` where it is not known, as that of macvlan without `master`, or each pod has its own, as with ptp.
   */
  readonly link: string | undefined;
}

/** The bridge of a network, as configured for the `bridge` plugin. */
export interface Bridge {
  /** The name of the interface with the gateways' addresses: the bridge, or its interface of a VLAN, such as `cni0.7`. */
  readonly name: string;
  /** Whether the plugin replaces a different address (`forceAddress`). */
  readonly isForced: boolean;
}

/** The main plugins of the CNI project pass `ipam` on as it is; another one, such as Antrea's, may add the ranges. */
export const PASSING_ON: readonly string[] = [
  ...["bridge", "dummy", "host-device", "ipvlan", "macvlan", "ptp", "tap", "vlan", "vrf"],
  PLUGIN,
];

/** The plugin, and the copy that BuildKit brings. */
const BRIDGE_PLUGINS: readonly string[] = ["bridge", "buildkit-cni-bridge"];

/** The main plugins whose pods are in the network of another interface, their `master`. */
const ON_MASTER: readonly string[] = ["macvlan", "ipvlan", "vlan"];

/** The main plugin by its configuration. */
export function mainPluginOf(document: JsonObject): MainPlugin {
  const textAt = (key: string): string => textOf(valueInAnyCase(document, key));
  const isSet = (key: string): boolean => valueInAnyCase(document, key) === true;
  const vlanOn = (name: string, key: string): string => {
    const vlan = valueInAnyCase(document, key);
    return typeof vlan === "number" && vlan !== 0 ? `${name}.${vlan}` : name;
  };
  const type = textAt("type");
  if (BRIDGE_PLUGINS.includes(type)) {
    const bridgeName = textAt("bridge") || "cni0";
    const link = vlanOn(bridgeName, "vlan");
    const hasGateway = isSet("isGateway") || isSet("isDefaultGateway");
    const bridge = hasGateway ? { name: link, isForced: isSet("forceAddress") } : undefined;
    return { bridge, bridgeName, isRouted: hasGateway, link };
  }
  const other = { bridge: undefined, bridgeName: undefined, isRouted: type === "ptp" };
  const master = textAt("master");
  if (!ON_MASTER.includes(type) || master === "") return { ...other, link: undefined };
  const link = vlanOn(master, "vlanId");
  // An interface of the pod is not one of the node, whatever its name.
  return { ...other, link: isSet("linkInContainer") ? `${link} of the pod` : link };
}
