import type { Attachment } from "../cni/attachment.ts";
import type { AttachmentCall } from "../cni/call.ts";
import { CniError, ErrorCode, internalError } from "../cni/error.ts";
import { memberInAnyCase } from "../cni/json.ts";
import { type NetworkNamespace, refuseOwnNetworkNamespace } from "../cni/network-namespace.ts";
import { formatPod, isPodSandbox, type PodName, parsePodName, podIn } from "../cni/pod.ts";
import { formatResult, type Result, type ResultDns } from "../cni/result.ts";
import { loadConfig } from "../configuration/load-config.ts";
import { readResolvConf } from "../configuration/resolv-conf-file.ts";
import { type Address, formatAddress } from "../ipam/address.ts";
import { type IpamConfig, isGcOnly } from "../ipam/config.ts";
import { exclusionsFor } from "../ipam/exclusions.ts";
import { type RangeSet, rangeOf } from "../ipam/range-set.ts";
import type { Candidate } from "../ipam/round-robin.ts";
import { Allocator } from "../store/allocation.ts";
import { type NetworkFiles, openNetwork } from "../store/files/network-files.ts";
import { isShared } from "../store/journal/reservation-states.ts";
import { type LockOptions, withLock } from "../store/lock.ts";
import type { LockedNetwork } from "../store/locked-network.ts";
import { AddressUse } from "../store/namespaces/address-use.ts";
import { NoAddressError } from "../store/no-address.ts";
import { shortened } from "../store/release.ts";
import { keysOf } from "../store/reservations/owner.ts";
import type { ReservationFile } from "../store/reservations/reservation-file.ts";
import { NO_PREFERENCES } from "../store/reuse/reuse.ts";
import { isSystemError, type System } from "../system/system.ts";
import { lockOptions } from "./lock-options.ts";
import { heldAllocation, holdsEverySet } from "./repeated-add.ts";
import { stickyOwner } from "./sticky-owner.ts";

/** ADD: reserves one address of each range set and prints the result; if it cannot be printed, releases them. */
export function add(system: System, call: AttachmentCall): void {
  if (isGcOnly(call.network)) passThroughPreviousResult(system, call);
  else reserveAndPrint(system, call);
}

function reserveAndPrint(system: System, call: AttachmentCall): void {
  const config = loadConfig(call.network, call.arguments, system);
  const namespace = refuseOwnNetworkNamespace(system, call.networkNamespace);
  const dns = readResolvConf(system, config.resolvConf);

  const files = openNetwork(system, config.dataDir, config.network);
  const request = lockOptions(call, config, "ADD");
  const answer = lookingAgain(system, () =>
    withLock(files, request, (network) => reserve(network, config, call, namespace)),
  );
  print(files, call, config, dns, answer);
}

/**
 * How long an ADD waits before each further look, in milliseconds, where a container uses an address that nothing reserves: ptp's
 * DEL releases an address some 20 ms before its interface goes.
 */
const PAUSES = [20, 80, 300, 600] as const;

/**
 * Reserves, and waits up to a second for a DEL that may be under way: outside of the lock, which that may want.
 *
 * @throws CniError
 */
function lookingAgain<T>(system: System, look: () => T): T {
  for (const pause of PAUSES) {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof NoAddressError && error.mayPass)) throw error;
      system.sleep(pause);
    }
  }
  return look();
}

/** Prints the result; if that is not possible, releases what was reserved. */
function print(
  files: NetworkFiles,
  call: AttachmentCall,
  config: IpamConfig,
  dns: ResultDns,
  { allocations, made }: Answer,
): void {
  const { system } = files;
  const result: Result = {
    addresses: allocations.map(({ address, range }) => ({
      family: address.family,
      address: `${formatAddress(address)}/${range.prefixLength}`,
      gateway: range.gateway && formatAddress(range.gateway),
    })),
    routes: config.routes,
    dns,
  };
  try {
    system.writeStandardOutput(formatResult(result, call.network.version));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (made.length > 0) undoIfPossible(files, call, lockOptions(call, config, "UNDO"), made);
    throw new CniError(ErrorCode.ioFailure, `cannot deliver the result: ${error.message}`);
  }
}

/**
 * Releases what cannot be delivered. Without the lock another call could put a file there between the look at the file and
 * its removal; then the DEL that follows releases it.
 */
function undoIfPossible(
  files: NetworkFiles,
  { attachment }: AttachmentCall,
  options: LockOptions,
  made: readonly ReservationFile[],
): void {
  try {
    withLock(files, options, (network) => network.undo(attachment, made));
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof CniError)) throw error;
  }
}

/** The addresses of an ADD, one of each range set. */
interface Answer {
  readonly allocations: readonly Candidate[];
  /** What this call has reserved; nothing if an earlier ADD has, and delivered it. */
  readonly made: readonly ReservationFile[];
}

/** Reserves one address of each set, or none at all. */
function reserve(
  network: LockedNetwork,
  config: IpamConfig,
  call: AttachmentCall,
  seen: NetworkNamespace | undefined,
): Answer {
  const { attachment } = call;
  const namespace = seen && {
    ...seen,
    isPodSandbox: isPodSandbox(attachment, call.arguments) && hasOwn(network, seen, attachment),
  };
  const held = network.heldBy(attachment, "trust");
  if (config.repeatsAnswer) requireReadable(network, attachment);
  const isRepeated = config.repeatsAnswer && holdsEverySet(config.rangeSets, held);
  const { reserved, reclaims, reuse } = config;
  const pod = reserved.length === 0 ? undefined : podOf(call);
  const exclusions = exclusionsFor(config, pod);
  const owner = reuse.sticky && stickyOwner(call, reuse.sticky.by);
  const preferences = isRepeated ? NO_PREFERENCES : network.reuse.preferencesFor(owner);
  const allocator = new Allocator(network, {
    attachment,
    exclusions,
    reserved,
    pod,
    held,
    preferences,
    namespace,
    use: new AddressUse(network.files, { caller: seen }),
    reclaims,
  });
  const unserved = [...config.requested];
  const allocations: Candidate[] = [];
  try {
    for (const [index, set] of config.rangeSets.entries()) {
      const requested = takeFirstIn(unserved, set);
      const allocation = isRepeated
        ? heldAllocation(set, held, requested, attachment)
        : allocator.allocate(set, index, requested);
      allocations.push(allocation);
    }
  } catch (error) {
    network.undo(attachment, network.made);
    throw failureOf(allocations.length, error);
  }
  if (unserved.length > 0) {
    network.undo(attachment, network.made);
    throw internalError(
      `failed to allocate all requested IPs: ${unserved.map(formatAddress).join(" ")}`,
      "each range set serves one requested address, and only one that lies between its range's start and end, and with ipam.partition in this node's part",
    );
  }
  if (isRepeated) network.useAgain(held, namespace);
  else if (owner !== undefined) {
    network.reuse.reserved(
      owner,
      allocations.map(({ address }) => address),
    );
  }
  return { allocations, made: network.made };
}

/** The error of an ADD, with the index of the range set, as the Go plugin has it. */
function failureOf(index: number, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const details = error instanceof CniError ? error.details : "";
  const message = `failed to allocate for range ${index}: ${error.message}`;
  return error instanceof NoAddressError
    ? new NoAddressError(message, details, error.mayPass)
    : internalError(message, details);
}

/**
 * Whether a network namespace is known to be this container's alone: the kernel tells it from any other, or no other
 * container's is recorded.
 */
function hasOwn(
  { files }: LockedNetwork,
  namespace: NetworkNamespace,
  { containerId }: Attachment,
): boolean {
  return namespace.id !== undefined || !isShared(files, namespace, containerId);
}

/** The pod of a call; `undefined` where it does not name one with its namespace. */
function podOf(call: AttachmentCall): PodName | undefined {
  return parsePodName(formatPod(podIn(call.arguments)));
}

/** A repeated ADD that cannot read what it holds must not get another address. */
function requireReadable(network: LockedNetwork, attachment: Attachment): void {
  const own = network.unreadableOf((key) => keysOf(attachment).includes(key));
  if (own.length > 0) {
    const { containerId, interfaceName } = attachment;
    throw internalError(
      `cannot read the reservations of ${containerId} ${interfaceName}`,
      shortened(own).join("; "),
    );
  }
}

/** Removes from `pending` the first address in `set`, and returns it. */
function takeFirstIn(pending: Address[], set: RangeSet): Address | undefined {
  const at = pending.findIndex((address) => rangeOf(set, address) !== undefined);
  return at < 0 ? undefined : pending.splice(at, 1)[0];
}

/** Prints the result of a main plugin unchanged: with `gcOnly`, in the chain after it. */
function passThroughPreviousResult(system: System, { network }: AttachmentCall): void {
  const previous = memberInAnyCase(network.document, "prevResult");
  if (previous === undefined) {
    throw new CniError(
      ErrorCode.invalidNetworkConfig,
      "Required prevResult missing",
      'with "gcOnly": true the plugin runs in the chain after the main plugin',
    );
  }
  // Indentation would be most of the output for deeply nested values.
  system.writeStandardOutput(JSON.stringify(previous.value));
}
