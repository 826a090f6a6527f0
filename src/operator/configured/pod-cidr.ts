/** The podCIDR of this node where a configuration only asks for it: Calico's plugin puts it in before it calls this one. */

import { textOf } from "../../cli/command/json-values.ts";
import { type JsonObject, parseJson, valueInAnyCase } from "../../cni/json.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import { attempt, type System } from "../../system/system.ts";
import { readFlannelSubnets } from "./flannel-delegate.ts";

/** What Calico's plugin replaces, in any letter case. */
const ASKED = /"subnet":"usePodCidr(IPv6)?"/gi;

/** What is said of ranges of which this node does not know the podCIDR. */
export const UNKNOWN_POD_CIDR =
  "its ranges are the podCIDR of this node (usePodCidr), which only the API server knows: kubectl get node NODE -o jsonpath='{.spec.podCIDRs}' shows it";

/**
 * Puts the podCIDR in where flannel has written it, as beside Calico in Canal.
 *
 * @returns the plugin's configuration as it is where it asks for no podCIDR; `undefined` where one is not known here
 * @throws CniError where flannel's file is invalid
 */
export function withPodCidr(
  system: Pick<System, "readFile">,
  plugin: JsonObject,
): JsonObject | undefined {
  const ipam = JSON.stringify(plugin.ipam ?? null);
  // To libcni the type is in any letter case, to Calico's plugin what is in `ipam` as it is written.
  const isCalico = textOf(valueInAnyCase(plugin, "type")) === "calico";
  if (!isCalico || ipam.match(ASKED) === null) return plugin;
  const subnets = attempt(() => readFlannelSubnets(system), []);
  const complete = ipam.replaceAll(ASKED, (asked: string, ipv6: string | undefined) => {
    const family = ipv6 === undefined ? 4 : 6;
    const subnet = subnets.find(({ address }) => address.family === family);
    return subnet === undefined ? asked : `"subnet":"${formatPrefix(subnet)}"`;
  });
  return complete.match(ASKED) === null ? { ...plugin, ipam: parseJson(complete) } : undefined;
}
