/** The IPAM plugin `static`: addresses, routes and DNS settings as the configuration or the runtime gives them. */

import type { AttachmentCall } from "../cni/call.ts";
import { internalError } from "../cni/error.ts";
import { refuseOwnNetworkNamespace } from "../cni/network-namespace.ts";
import type { Plugin } from "../cni/plugin.ts";
import { formatResult } from "../cni/result.ts";
import { formatAddress, isSame } from "../ipam/address.ts";
import { formatPrefix } from "../ipam/prefix.ts";
import type { System } from "../system/system.ts";
import { loadStaticConfig } from "./config.ts";
import { previousAddresses } from "./previous-result.ts";

/** The `static` plugin. It keeps no state, so that DEL, GC and STATUS have nothing to do. */
export const staticPlugin: Plugin = {
  name: "static",
  hint: "",
  add,
  del: (system, { networkNamespace }) => refuseOwnNetworkNamespace(system, networkNamespace),
  check,
  gc: () => {},
  status: () => {},
};

/** ADD: prints the configured addresses. */
function add(system: System, { network, networkNamespace, arguments: args }: AttachmentCall): void {
  const { addresses, routes, dns } = loadStaticConfig(network, args);
  refuseOwnNetworkNamespace(system, networkNamespace);
  const result = {
    addresses: addresses.map(({ prefix, gateway }) => ({
      family: prefix.address.family,
      address: formatPrefix(prefix),
      gateway: gateway && formatAddress(gateway),
    })),
    routes,
    dns,
  };
  system.writeStandardOutput(formatResult(result, network.version));
}

/** CHECK: an address that the previous result has must have the configured gateway there; others are not compared. */
function check(_: System, { network, attachment, arguments: args }: AttachmentCall): void {
  const { addresses } = loadStaticConfig(network, args);
  const previous = previousAddresses(network);
  for (const { prefix, gateway } of addresses) {
    const found = previous.find(({ address }) => isSame(address, prefix.address));
    if (found === undefined || gateway === undefined) continue;
    if (found.gateway !== undefined && isSame(found.gateway, gateway)) continue;
    const there = found.gateway === undefined ? "none" : formatAddress(found.gateway);
    throw internalError(
      `static: Failed to match addr ${formatAddress(prefix.address)} on interface ${attachment.interfaceName}`,
      `expected the gateway ${formatAddress(gateway)}; prevResult has ${there}`,
    );
  }
}
