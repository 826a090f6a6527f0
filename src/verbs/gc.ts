import type { NetworkCall } from "../cni/call.ts";
import { CniError, ErrorCode } from "../cni/error.ts";
import { type ValidAttachment, validAttachments } from "../cni/valid-attachments.ts";
import { loadStoreConfig, type StoreConfig } from "../ipam/config.ts";
import { openNetwork } from "../store/files/network-files.ts";
import { withLockIfPossible } from "../store/lock.ts";
import type { LockedNetwork } from "../store/locked-network.ts";
import { releaseWhere, reportingIoFailure, requireRead, shortened } from "../store/release.ts";
import { keyOf, type Owner } from "../store/reservations/owner.ts";
import { directoryExists } from "../store/reservations/reservation-file.ts";
import type { System } from "../system/system.ts";
import { lockOptions } from "./lock-options.ts";

/**
 * GC: releases every address whose attachment the runtime does not list (CNI SPEC 1.1.0, section 2). Files that name
 * no container stay. Without a list nothing is released.
 */
export function gc(system: System, call: NetworkCall): void {
  const valid = validAttachments(call.network);
  if (valid === undefined) {
    system.writeStandardError(
      "host-local: GC without cni.dev/valid-attachments; nothing was released\n",
    );
    return;
  }
  const config = storeConfig(call);
  const files = openNetwork(system, config.dataDir, config.network);
  const request = lockOptions(system, call, config, "GC");
  reportingIoFailure(() => {
    if (!directoryExists(files)) return;
    withLockIfPossible(files, request, (network) => releaseStale(network, valid));
  });
}

function releaseStale(network: LockedNetwork, valid: readonly ValidAttachment[]): void {
  network.files.sweepAll();
  const isStale = notListedIn(valid);
  releaseWhere(network, ({ owner }) => isStale(owner));
  requireRead(network.unreadableWhere(isStale), "the reservations that are not listed");
  for (const reason of shortened(network.unreadable)) {
    network.warn(`host-local: ${reason}; GC left it alone\n`);
  }
}

/** Whether an owner is not listed; a legacy file stays while any interface of its container is listed. */
function notListedIn(valid: readonly ValidAttachment[]): (owner: Owner) => boolean {
  const containers = new Set<string>(valid.map(({ containerId }) => containerId));
  const attachments = new Set<string>(
    valid.map(({ containerId, interfaceName }) => `${containerId} ${interfaceName}`),
  );
  return (owner) => {
    if (owner.kind === "attachment") return !attachments.has(keyOf(owner));
    return owner.kind === "legacy" && !containers.has(owner.containerId);
  };
}

function storeConfig({ network }: NetworkCall): StoreConfig {
  try {
    return loadStoreConfig(network);
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw new CniError(ErrorCode.invalidNetworkConfig, error.message, error.details);
  }
}
