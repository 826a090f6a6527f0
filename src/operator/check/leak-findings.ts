/** Findings on reservations whose containers seem to be dead. */

import { plural } from "../../cli/output/plural.ts";
import { attempt, type System } from "../../system/system.ts";
import type { NetworkDirectory, NodeReservation } from "../node/network-directory.ts";
import { commandText } from "../node/next-command.ts";
import type { Node } from "../node/node.ts";
import { containerOf } from "../node/node-reservations.ts";
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
    const old = [...checker.livenessOfAll(reservations)].filter(([one]) => isOld(one, youngest));
    // ADD takes the addresses of those from before this boot by itself.
    const counted = old.filter(([{ isBeforeBoot }]) => !isBeforeBoot);
    const commands = [commandText(context, files, ["gc", files.network])];
    const leaked = counted.flatMap(([reservation, result]): readonly Finding[] => {
      const isMountOnly = result.liveness === "alive" && result.by === "mount";
      if (result.liveness !== "dead" && !isMountOnly) return [];
      return [
        {
          code: isMountOnly ? "sandbox-without-process" : "leaked-reservation",
          network: files.network,
          path: reservation.path,
          isOnFile: true,
          // Metrics only count: the cache need not be asked for pods.
          get message() {
            const container = containerOf(reservation.owner);
            const pod = cache.podOf(reservation);
            const holder = pod === "" ? container : `${container} of ${pod}`;
            return `${reservation.text} is held by ${holder}: ${result.reason}`;
          },
          commands: isMountOnly ? [] : commands,
        },
      ];
    });
    const unknown = counted.filter(([, { liveness }]) => liveness === "unknown");
    const [first] = unknown;
    if (first === undefined) return leaked;
    // What cannot be seen is said: it is not the same as no leak.
    const [, { reason }] = first;
    const message = `whether ${unknown.length} of ${plural(old.length, "reservation")} leaked cannot be seen: ${reason}`;
    return [
      ...leaked,
      { code: "leaks-unknown", network: files.network, path: files.directory, message },
    ];
  });
}

function isOld({ owner, since }: NodeReservation, youngest: number): boolean {
  return containerOf(owner) !== "" && since !== undefined && since <= youngest;
}

/** `/proc/uptime` begins with the seconds since the start. */
function hasJustStarted(system: System): boolean {
  const text = attempt(() => system.readFile("/proc/uptime", LARGEST_UPTIME), undefined);
  return text !== undefined && Number.parseFloat(text) * 1000 < GRACE;
}
