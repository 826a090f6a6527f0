import type { NetworkCall } from "../cni/call.ts";
import { CniError, ErrorCode } from "../cni/error.ts";
import { loadConfig } from "../configuration/load-config.ts";
import { parseAddress } from "../ipam/address.ts";
import { hasRanges, type IpamConfig, loadStoreConfig } from "../ipam/config.ts";
import { type Exclusions, exclusionsForAll } from "../ipam/exclusions.ts";
import { formatRangeSet, type RangeSet } from "../ipam/range-set.ts";
import { capacityOf, isEmptySet } from "../ipam/round-robin.ts";
import { type NetworkFiles, openNetwork } from "../store/files/network-files.ts";
import { knownCount } from "../store/journal/journal-file.ts";
import { reclaimableNames } from "../store/journal/reservation-states.ts";
import { othersIn, readAll } from "../store/reservations/directory-scan.ts";
import {
  candidateAt,
  countUsage,
  describeUsage,
  isExhausted,
  removableAt,
} from "../store/reservations/usage.ts";
import type { System } from "../system/system.ts";
import { exhaustionAdvice } from "./exhaustion-advice.ts";
import { requireWritableStore } from "./writable-store.ts";

/**
 * STATUS: fails if no ADD could ever succeed. Runtimes report the whole node as NotReady on an error, and Kubernetes then
 * evicts its pods, so an exhausted range set is an error only if the configuration says so; CNI SPEC 1.1.0, section 2,
 * says that it is. STATUS takes no lock and creates nothing. Ranges that the runtime
 * provides are not sent with STATUS, so a configuration without ranges is not an error.
 *
 * @throws CniError 50 where the configuration is wrong, the store cannot be written, or a range set has no address that
 * may be handed out, or with `exhaustedStatus` `"unavailable"` no free one
 */
export function status(system: System, { network }: NetworkCall): void {
  try {
    const config = hasRanges(network) ? loadConfig(network, "", system) : undefined;
    const store = config ?? loadStoreConfig(network);
    const files = openNetwork(system, store.dataDir, store.network);
    requireWritableStore(files);
    if (config === undefined) return;
    // An address that is reserved for a pod is one that an ADD may get.
    const exclusions = exclusionsForAll(config);
    const sets = config.failsWhenExhausted
      ? config.rangeSets
      : config.rangeSets.filter((set) => isEmptySet(set, exclusions));
    requireFreeAddresses(files, { ...config, exclusions, rangeSets: sets });
  } catch (error) {
    throw error instanceof Error ? unavailable(error.message, detailsOf(error)) : error;
  }
}

function requireFreeAddresses(files: NetworkFiles, config: IpamConfig): void {
  if (config.rangeSets.length === 0) return;
  const { exclusions, reserved, rangeSets } = config;
  const known = knownCount(files);
  const hasRoom = (set: RangeSet): boolean =>
    known !== undefined && set.some((range) => capacityOf(range, exclusions) > BigInt(known));
  if (rangeSets.every(hasRoom)) return;
  for (const set of rangeSets) {
    const usage = countUsage(files, set, exclusions);
    if (!isExhausted(usage)) continue;
    // Empty files count as free, since the next ADD removes them.
    const unusual = othersIn(readAll(files));
    if (unusual.some((one) => removableAt(files, { set, exclusions }, one))) continue;
    // And so do those of dead containers.
    if (config.reclaims && hasDead(files, set, exclusions)) continue;
    throw unavailable(
      `no IP addresses available in range set: ${formatRangeSet(set)}`,
      `${describeUsage(usage, [], files)}. ${exhaustionAdvice(files, { set, exclusions, reserved })}`,
    );
  }
}

function hasDead(files: NetworkFiles, set: RangeSet, exclusions: Exclusions): boolean {
  return reclaimableNames(files).some(
    (name) => candidateAt(parseAddress(name), set, exclusions) !== undefined,
  );
}

function unavailable(message: string, details: string): CniError {
  return new CniError(ErrorCode.pluginNotAvailable, message, details);
}

function detailsOf(error: Error): string {
  return error instanceof CniError ? error.details : "";
}
