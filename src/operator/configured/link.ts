/** The link of a network: where its pods meet each other, and others. */

import { textOf } from "../../cli/command/json-values.ts";
import { type JsonObject, valueInAnyCase } from "../../cni/json.ts";

/** The main plugins whose pods are in the network of another interface, their `master`. */
const ON_MASTER: readonly string[] = ["macvlan", "ipvlan", "vlan"];

/**
 * The link that the main plugin connects pods to: a bridge or the `master`, with the VLAN on it.
 *
 * @param bridgeName the bridge that the `bridge` plugin takes; `undefined` with other plugins
 * @returns `undefined` where it is not known, as that of macvlan without `master`, or each pod has its own, as with ptp
 * @example linkIn({ type: "vlan", master: "eth0", vlanId: 5 }, undefined); // "eth0.5"
 */
export function linkIn(document: JsonObject, bridgeName: string | undefined): string | undefined {
  if (bridgeName !== undefined) return vlanOn(bridgeName, valueInAnyCase(document, "vlan"));
  const master = textOf(valueInAnyCase(document, "master"));
  if (!ON_MASTER.includes(textOf(valueInAnyCase(document, "type"))) || master === "") {
    return undefined;
  }
  const link = vlanOn(master, valueInAnyCase(document, "vlanId"));
  // An interface of the pod is none of the node, whatever its name.
  return valueInAnyCase(document, "linkInContainer") === true ? `${link} of the pod` : link;
}

/** The name of an interface of a VLAN, such as `cni0.7`; that of the interface itself without a VLAN. */
export function vlanOn(interfaceName: string, vlan: unknown): string {
  return typeof vlan === "number" && vlan !== 0 ? `${interfaceName}.${vlan}` : interfaceName;
}
