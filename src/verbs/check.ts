import type { AttachmentCall } from "../cni/call.ts";
import { internalError } from "../cni/error.ts";
import { checkConfig } from "../configuration/load-config.ts";
import { isGcOnly } from "../ipam/config.ts";
import { openNetwork } from "../store/files/network-files.ts";
import { isHeld } from "../store/locked-network.ts";
import { directoryExists } from "../store/reservations/reservation-file.ts";
import type { System } from "../system/system.ts";

/**
 * CHECK: succeeds if the attachment holds any address of the network. It changes nothing and takes no lock, since
 * reservations appear whole or not at all.
 */
export function check(system: System, call: AttachmentCall): void {
  if (isGcOnly(call.network)) return;
  const config = checkConfig(call.network, call.arguments);
  const files = openNetwork(system, config.dataDir, config.network);
  const { containerId, interfaceName } = call.attachment;
  if (!directoryExists(files) || !isHeld(files, call.attachment)) {
    throw internalError(
      `host-local: Failed to find address added by container ${containerId}`,
      `no file in ${files.directory} names ${containerId} ${interfaceName}`,
    );
  }
}
