import type { Attachment } from "../cni/attachment.ts";
import type { AttachmentCall } from "../cni/call.ts";
import { refuseOwnNetworkNamespace } from "../cni/network-namespace.ts";
import { isGcOnly, loadStoreConfig } from "../ipam/config.ts";
import { openNetwork } from "../store/files/network-files.ts";
import { withLockIfPossible } from "../store/lock.ts";
import type { PossiblyLockedNetwork } from "../store/locked-network.ts";
import { releaseAll, reportingIoFailure, requireRead, shortened } from "../store/release.ts";
import { keysOf } from "../store/reservations/owner.ts";
import { directoryExists, releasable } from "../store/reservations/reservation-file.ts";
import type { System } from "../system/system.ts";
import { lockOptions } from "./lock-options.ts";

/**
 * DEL: releases what the attachment holds. It needs no ranges, creates nothing where nothing is reserved, and may be
 * repeated. With `gcOnly` it leaves the address to the main plugin's DEL.
 */
export function del(system: System, call: AttachmentCall): void {
  if (isGcOnly(call.network)) return;
  const config = loadStoreConfig(call.network);
  const files = openNetwork(system, config.dataDir, config.network);
  const request = lockOptions(call, config, "DEL");
  reportingIoFailure(() => {
    if (!directoryExists(files)) return;
    withLockIfPossible(files, request, (network) => release(network, call.attachment));
  });
  refuseOwnNetworkNamespace(system, call.networkNamespace);
}

/** Releases what can be read, then fails if anything else may belong to the attachment, so that the runtime retries. */
function release(network: PossiblyLockedNetwork, attachment: Attachment): void {
  const held = network.heldBy(attachment, "search");
  releaseAll(network, releasable(held));
  const { containerId, interfaceName } = attachment;
  requireRead(
    network.unreadableOf((key) => keysOf(attachment).includes(key)),
    `the reservations of ${containerId} ${interfaceName}`,
  );
  if (held.length > 0) return;
  for (const reason of shortened(network.unreadable)) {
    network.warn(`host-local: ${reason}; it may be a reservation of ${containerId}\n`);
  }
}
