import type { NetworkCall } from "../cni/call.ts";
import { CniError, ErrorCode } from "../cni/error.ts";
import { loadWithoutCall } from "../configuration/load-config.ts";
import { dryRun } from "../dry-run/dry-run.ts";
import { exclusionsForAll } from "../ipam/exclusions.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import { isEmptySet } from "../ipam/round-robin.ts";
import { openNetwork } from "../store/files/network-files.ts";
import { NoAddressError } from "../store/no-address.ts";
import type { System } from "../system/system.ts";

/**
 * STATUS: fails if no ADD could ever succeed, by the dry run of one. Runtimes report the whole node as NotReady on an error, and
 * Kubernetes then evicts its pods, so an exhausted range set is an error only if the configuration says so; CNI SPEC 1.1.0,
 * section 2, says that it is. STATUS takes no lock and creates nothing. Ranges that the runtime provides are not sent with
 * STATUS, so a configuration without ranges is not an error.
 *
 * @throws CniError 50 where the configuration is wrong, the store cannot be written, or a range set has no address that
 * may be handed out, or with `exhaustedStatus` `"unavailable"` no free one
 */
export function status(system: System, { network }: NetworkCall): void {
  try {
    const config = loadWithoutCall(network, system);
    const files = openNetwork(system, config.dataDir, config.network);
    // An address that is reserved for a pod is one that an ADD may get.
    const exclusions = exclusionsForAll(config);
    const isAsked = (set: RangeSet): boolean =>
      config.failsWhenExhausted || isEmptySet(set, exclusions);
    for (const prospect of dryRun(files, { ...config, exclusions }, { isAsked })) {
      if (prospect instanceof NoAddressError) throw prospect;
    }
  } catch (error) {
    throw error instanceof Error ? unavailable(error.message, detailsOf(error)) : error;
  }
}

function unavailable(message: string, details: string): CniError {
  return new CniError(ErrorCode.pluginNotAvailable, message, details);
}

function detailsOf(error: Error): string {
  return error instanceof CniError ? error.details : "";
}
