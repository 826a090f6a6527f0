/** Findings on reservations whose containers seem to be dead. */

import { plural } from "../../cli/output/plural.ts";
import { formatAddress } from "../../ipam/address.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { attempt, type System } from "../../system/system.ts";
import type { NetworkDirectory, NodeReservation } from "../node/network-directory.ts";
import { commandText } from "../node/next-command.ts";
import type { Node } from "../node/node.ts";
import { containerOf } from "../node/node-reservations.ts";
import type { ResultsCache } from "../node/results-cache.ts";
import type { Finding } from "./finding.ts";

/**
 * A younger reservation is not reported, in milliseconds: the runtime may be about to release it. After a restart of the
 * node, kubelet removes all pods from before within minutes.
 */
const GRACE = 10 * 60_000;

const LARGEST_UPTIME = 4096;

/**
 * Checks for reservations of dead containers, and of those whose pod has long had another one.
 *
 * @param directories those that are checked
 */
export function leakFindings(
  { context, cache, liveness: checker }: Node,
  directories: readonly NetworkDirectory[],
): readonly Finding[] {
  const { system } = context;
  if (hasJustStarted(system)) return [];
  return directories.flatMap(({ files, reservations }) => {
    const results = checker.livenessOfAll(reservations);
    const old = reservations.filter((reservation) => isOld(system, reservation));
    const isUndecided = (one: NodeReservation): boolean => results.get(one)?.liveness === "unknown";
    const newest = old.some(isUndecided) ? newestByPod(old, cache) : new Map();
    const commands = [commandText(context, files, ["gc", files.network])];
    const counted = old.filter(({ isBeforeBoot }) => !isBeforeBoot);
    const leaked = counted.flatMap((reservation): readonly Finding[] => {
      const result = results.get(reservation);
      const isMountOnly = result?.liveness === "alive" && result.by === "mount";
      if (result?.liveness === "alive" && !isMountOnly) return [];
      const clause =
        result === undefined || result.liveness === "unknown"
          ? supersededBy(reservation, newest, cache)
          : result.reason;
      if (clause === undefined) return [];
      return [
        {
          code: isMountOnly ? "sandbox-without-process" : "leaked-reservation",
          files,
          path: reservation.path,
          // Metrics only count: the cache need not be asked for pods.
          get message() {
            const container = containerOf(reservation.owner);
            const pod = cache.podOf(reservation);
            const holder = pod === "" ? container : `${container} of ${pod}`;
            return `${formatAddress(reservation.address)} is held by ${holder}: ${clause}`;
          },
          commands: isMountOnly ? [] : commands,
        },
      ];
    });
    const named = new Set(leaked.map(({ path }) => path));
    const unknown = counted.filter(
      (one) => results.get(one)?.liveness === "unknown" && !named.has(one.path),
    );
    return [
      ...leaked,
      ...unseenFindings(
        files,
        unknown.map((one) => results.get(one)?.reason),
        old.length,
      ),
    ];
  });
}

/** What cannot be seen is said: it is not the same as no leak. */
function unseenFindings(
  files: NetworkFiles,
  reasons: readonly (string | undefined)[],
  all: number,
): readonly Finding[] {
  const [reason] = reasons;
  if (reason === undefined) return [];
  const message = `whether ${reasons.length} of ${plural(all, "reservation")} leaked cannot be seen: ${reason}`;
  return [{ code: "leaks-unknown", files, path: files.directory, message }];
}

/** A pod that was restarted has a new container in each of its networks. */
function supersededBy(
  reservation: NodeReservation,
  newest: ReadonlyMap<string, NodeReservation>,
  cache: ResultsCache,
): string | undefined {
  const other = newest.get(cache.podOf(reservation));
  if (other === undefined || containerOf(other.owner) === containerOf(reservation.owner)) {
    return undefined;
  }
  return `the pod has had a newer container, ${containerOf(other.owner)}, for more than ten minutes`;
}

function newestByPod(
  reservations: readonly NodeReservation[],
  cache: ResultsCache,
): ReadonlyMap<string, NodeReservation> {
  const newest = new Map<string, NodeReservation>();
  for (const reservation of reservations) {
    const pod = cache.podOf(reservation);
    const known = newest.get(pod);
    if (pod === "") continue;
    if (known === undefined || timeOf(reservation) > timeOf(known)) newest.set(pod, reservation);
  }
  return newest;
}

function isOld(system: System, reservation: NodeReservation): boolean {
  return containerOf(reservation.owner) !== "" && system.now() - timeOf(reservation) >= GRACE;
}

function timeOf({ since }: NodeReservation): number {
  return since ?? Number.POSITIVE_INFINITY;
}

/** `/proc/uptime` begins with the seconds since the start. */
function hasJustStarted(system: System): boolean {
  const text = attempt(() => system.readFile("/proc/uptime", LARGEST_UPTIME), undefined);
  return text !== undefined && Number.parseFloat(text) * 1000 < GRACE;
}
