import type { AttachmentCall } from "../cni/call.ts";
import { refuseOwnNetworkNamespace } from "../cni/network-namespace.ts";
import { isGcOnly, loadStoreConfig } from "../ipam/config.ts";
import { locate } from "../store/location.ts";
import { underLockIfPossible } from "../store/lock.ts";
import { releaseAll } from "../store/release.ts";
import { directoryExists, releasable } from "../store/reservations.ts";
import type { System } from "../system/system.ts";
import { holderText } from "./holder-text.ts";

/**
 * DEL: releases what the attachment holds. It needs no ranges, creates nothing where nothing is reserved, and may be
 * repeated. In the chain (`gcOnly`) it leaves the address to the main plugin's own DEL.
 */
export function del(system: System, call: AttachmentCall): void {
  if (isGcOnly(call.network)) return;
  const config = loadStoreConfig(call.network);
  const location = locate(config.dataDir, config.network);
  if (directoryExists(system, location)) {
    const wish = { holder: holderText(call), timeoutSeconds: config.lockTimeoutSeconds };
    underLockIfPossible(system, location, wish, (ledger) => {
      const holdings = ledger.holdingsOf(call.attachment, "search");
      releaseAll(ledger, holdings, releasable(holdings));
    });
  }
  refuseOwnNetworkNamespace(system, call.networkNamespace);
}
