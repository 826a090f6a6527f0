import type { AttachmentCall } from "../cni/call.ts";
import { refuseOwnNetworkNamespace } from "../cni/network-namespace.ts";
import { isPodSandbox } from "../cni/pod.ts";
import { isGcOnly, loadStoreConfig } from "../ipam/config.ts";
import { keepCall } from "../store/failed-calls/failed-calls-file.ts";
import { type NetworkFiles, openNetwork } from "../store/files/network-files.ts";
import { withLockIfPossible } from "../store/lock.ts";
import type { PossiblyLockedNetwork } from "../store/locked-network.ts";
import { releaseAll, reportingIoFailure, requireRead, shortened } from "../store/release.ts";
import { keysOf } from "../store/reservations/owner.ts";
import {
  directoryExists,
  type NamedReservation,
  releasable,
} from "../store/reservations/reservation-file.ts";
import { attempt, type System } from "../system/system.ts";
import { keptCall } from "./keep-failure.ts";
import { lockOptions } from "./lock-options.ts";

/** A millisecond, in nanoseconds. */
const MILLISECOND = 1e6;

/** A pod whose address is released sooner, in milliseconds, has hardly run: a plugin after this one has failed. */
const AT_ONCE = 1000;

/**
 * DEL: releases what the attachment holds. It needs no ranges, creates nothing where nothing is reserved, and may be
 * repeated. With `gcOnly` it leaves the address to the main plugin's DEL.
 */
export function del(system: System, call: AttachmentCall): void {
  if (isGcOnly(call.network)) return;
  const config = loadStoreConfig(call.network);
  const files = openNetwork(system, config.dataDir, config.network);
  const request = lockOptions(call, config, "DEL");
  let after: number | undefined;
  reportingIoFailure(() => {
    if (!directoryExists(files)) return;
    after = withLockIfPossible(files, request, (network) => release(network, call));
  });
  if (after !== undefined) keepReturned(system, call, after);
  refuseOwnNetworkNamespace(system, call.networkNamespace);
}

/**
 * Releases what can be read, then fails if anything else may belong to the attachment, so that the runtime retries.
 *
 * @returns for how long it was reserved, in milliseconds; `undefined` where nothing was, or that is of no interest
 */
function release(network: PossiblyLockedNetwork, call: AttachmentCall): number | undefined {
  const { attachment } = call;
  const held = network.heldBy(attachment, "search");
  const own = releasable(held);
  const first = own[0];
  const isOfPod = first !== undefined && isPodSandbox(attachment, call.arguments);
  const after = isOfPod ? ageOf(network.files, first) : undefined;
  releaseAll(network, own);
  const { containerId, interfaceName } = attachment;
  requireRead(
    network.unreadableOf((key) => keysOf(attachment).includes(key)),
    `the reservations of ${containerId} ${interfaceName}`,
  );
  if (held.length > 0) return after;
  for (const reason of shortened(network.unreadable)) {
    network.warn(`host-local: ${reason}; it may be a reservation of ${containerId}\n`);
  }
  return undefined;
}

/** The age of a reservation, in milliseconds; `undefined` where it is not known. */
function ageOf(files: NetworkFiles, { name }: NamedReservation): number | undefined {
  const { system } = files;
  const path = files.pathOf(name);
  // The date is off the full millisecond, so it is rounded down.
  const dated = (): number => Math.floor(Number(system.linkStatus(path).modified) / MILLISECOND);
  return attempt(() => system.now() - dated(), undefined);
}

/** Keeps that a pod has given its address back at once. */
function keepReturned(system: System, { network }: AttachmentCall, after: number): void {
  if (after < 0 || after >= AT_ONCE) return;
  keepCall(system, {
    ...keptCall(system, "DEL", network),
    kind: "returned",
    after,
  });
}
