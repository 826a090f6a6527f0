/** Findings on reservations whose containers seem to be dead. */

import { plural } from "../../cli/output/plural.ts";
import { attempt, type System } from "../../system/system.ts";
import type { ConcludedReservation } from "../node/liveness.ts";
import type { NetworkDirectory, NodeReservation } from "../node/network-directory.ts";
import { containerOf } from "../node/network-directory.ts";
import { commandText } from "../node/next-command.ts";
import type { Node } from "../node/node.ts";
import type { ResultsCache } from "../node/results-cache.ts";
import type { Finding } from "./finding.ts";

/**
 * A younger reservation is not reported, in milliseconds: the runtime may be about to release it. After a restart of the
 * node, kubelet removes all pods from before within minutes.
 */
const GRACE = 10 * 60_000;

const LARGEST_UPTIME = 4096;

/**
 * Checks for reservations of dead containers.
 *
 * @param directories those that are checked
 */
export function leakFindings(
  { context, cache, liveness: checker }: Node,
  directories: readonly NetworkDirectory[],
): readonly Finding[] {
  const { system } = context;
  if (hasJustStarted(system)) return [];
  const youngest = system.now() - GRACE;
  return directories.flatMap(({ files, reservations }) => {
    const concluded = checker.livenessOfAll(reservations);
    const old = concluded.filter(({ reservation }) => isOld(reservation, youngest));
    // ADD takes the addresses of those from before this boot by itself.
    const counted = old.filter(({ reservation }) => !reservation.isBeforeBoot);
    const commands = [commandText(context, files, ["gc", files.network])];
    const leaked = counted.filter(isLeaked).map((one) => leak(one, cache, commands));
    const unknown = counted.filter(({ conclusion }) => conclusion.liveness === "unknown");
    const [first] = unknown;
    if (first === undefined) return leaked;
    // What cannot be seen is said: it is not the same as no leak.
    const { reason } = first.conclusion;
    const message = `whether ${unknown.length} of ${plural(old.length, "reservation")} leaked cannot be seen: ${reason}`;
    return [
      ...leaked,
      { code: "leaks-unknown", network: files.network, path: files.directory, message },
    ];
  });
}

/** Whether a container is dead, or is alive by a mount alone. */
function isLeaked({ conclusion }: ConcludedReservation): boolean {
  const { liveness } = conclusion;
  return liveness === "dead" || (liveness === "alive" && conclusion.by === "mount");
}

/** @param commands that release those of dead containers */
function leak(
  { reservation, conclusion }: ConcludedReservation,
  cache: ResultsCache,
  commands: readonly string[],
): Finding {
  const isDead = conclusion.liveness === "dead";
  return {
    code: isDead ? "leaked-reservation" : "sandbox-without-process",
    network: reservation.network.files.network,
    isOnFile: true,
    // Metrics only count: neither is the path made, nor is the cache asked for the pod.
    get path() {
      return reservation.path;
    },
    get message() {
      const container = containerOf(reservation.owner);
      const pod = cache.podOf(reservation);
      const holder = pod === "" ? container : `${container} of ${pod}`;
      return `${reservation.text} is held by ${holder}: ${conclusion.reason}`;
    },
    commands: isDead ? commands : [],
  };
}

function isOld({ owner, since }: NodeReservation, youngest: number): boolean {
  return containerOf(owner) !== "" && since !== undefined && since <= youngest;
}

/** `/proc/uptime` begins with the seconds since the start. */
function hasJustStarted(system: System): boolean {
  const text = attempt(() => system.readFile("/proc/uptime", LARGEST_UPTIME), undefined);
  return text !== undefined && Number.parseFloat(text) * 1000 < GRACE;
}
