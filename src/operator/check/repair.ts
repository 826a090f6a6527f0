/** Repairs what is safe to repair: it removes empty reservations, under the lock, after checking each again. */

import { withLock } from "../../store/lock.ts";
import { isReclaimable } from "../../store/reservations/usage.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { historyCall } from "../node/history-call.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import type { Finding } from "./finding.ts";

/**
 * Repairs what can be repaired in one network.
 *
 * @param done receives what was repaired, even if the rest fails; those that had changed in the meantime are missing
 * @throws CniError 11 if the lock is not free in time: nothing was changed
 * @throws SystemError where the directory cannot be read: nothing was changed
 */
export function repair(
  system: OperatorSystem,
  { files, networks: [network] }: NetworkDirectory,
  findings: readonly Finding[],
  done: Set<Finding>,
): void {
  const own = findings.filter((one) => one.files?.directory === files.directory);
  const request = {
    holder: "host-local check --repair",
    timeoutSeconds: network.lockTimeoutSeconds,
    history: historyCall(system, network, "check"),
  };
  if (!own.some(({ repairable }) => repairable !== undefined)) return;
  withLock(files, request, (locked) => {
    locked.bringUpToDate();
    for (const finding of own) {
      const { repairable: name, path } = finding;
      if (name === undefined || !isReclaimable(system, path)) continue;
      if (locked.reclaim(name)) done.add(finding);
    }
  });
}
