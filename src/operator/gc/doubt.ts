/** When a list of live containers is not believed in a network: nothing is dead by such a list. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Lives } from "../judgements/lives.ts";
import type { Node } from "../node.ts";
import { type DecidedReservation, isDeadByList } from "./decision.ts";
import type { LiveList } from "./live-list.ts";

/**
 * Fewer reservations than this are never too many, as long as the list has any of the network: in a small network, one
 * crash leaves most of them dead.
 */
const FEW = 3;

/**
 * Why the list is not believed; `undefined` if it is. A wrong list is wrong in every run, so a second run proves nothing.
 *
 * @param judged as if the list were believed
 * @param isForced whether it is right although it is empty, has most of the network dead, or has too few for the node
 */
export function doubtOn(
  list: LiveList,
  { files: { network } }: NetworkDirectory,
  judged: readonly DecidedReservation[],
  { cache, liveness }: Pick<Node, "cache" | "liveness">,
  isForced: boolean,
): string | undefined {
  const lacked = judged.find(
    (decided) => isLacked(decided, list) && !isBesideListed(decided, list, liveness),
  );
  if (lacked !== undefined) {
    const { reservation, conclusion } = lacked;
    const pod = cache.podOf(reservation);
    const container = `container ${containerOf(reservation.owner)}`;
    const holder = pod === "" ? container : `${pod} (${container})`;
    return `${network}: the list lacks a running container: ${holder} with ${reservation.text}: ${conclusion.reason}. It is that of another runtime, cut off, or its runtime has lost its state: nothing is released by it there. Give the lists of all runtimes that use ${network}`;
  }
  if (isForced || !judged.some(isDeadByList)) return undefined;
  return tooMany(list, network, judged) ?? tooFew(list, network, liveness);
}

/** Whether the list lacks a container that lives, as a process shows. A young one need not be in a list yet. */
function isLacked(
  { decision, conclusion, reservation }: DecidedReservation,
  list: LiveList,
): boolean {
  const isRunning = conclusion.liveness === "alive" && conclusion.by === "process";
  return decision === "alive" && isRunning && !list.has(containerOf(reservation.owner));
}

/** Whether the process may be a listed container's, which has the same address in another network, or has taken this one. */
function isBesideListed({ reservation }: DecidedReservation, list: LiveList, { whose }: Lives) {
  return whose.containersBeside(reservation).some(list.has);
}

/** A list that was cut has most of the live containers among the dead. */
function tooMany(
  list: LiveList,
  network: string,
  judged: readonly DecidedReservation[],
): string | undefined {
  const named = judged.filter(({ decision }) => decision !== "unowned");
  const dead = named.filter(isDeadByList).length;
  const remedy = `nothing is released by the list there. Check that it is complete, and has the containers of every runtime that uses ${network}; if it is, add --force`;
  if (list.size === 0) return `${network}: the list of live containers is empty; ${remedy}`;
  const hasAny = named.some(({ reservation }) => list.has(containerOf(reservation.owner)));
  if (dead * 2 <= named.length || (hasAny && dead < FEW)) return undefined;
  return `${network}: ${dead} of ${named.length} reservations are dead by the list alone; ${remedy}`;
}

/**
 * Why the list has too few containers. Each network namespace with a process that nothing assigns to a container may be that of
 * a living one whose address the kernel never has, such as a virtual machine: a list with fewer containers for them lacks some.
 */
function tooFew(list: LiveList, network: string, liveness: Lives): string | undefined {
  const strangers = liveness.whose.strangersWithProcess();
  const [first] = strangers;
  if (first === undefined) return undefined;
  const accounted = [...liveness.accountedContainers()].filter(list.has).length;
  const left = list.size - accounted;
  if (strangers.length <= left) return undefined;
  const which = `${plural(strangers.length, "network namespace")} with processes, such as ${first.path}, ${verbFor(strangers.length, "belongs", "belong")} to no known container`;
  return `${network}: ${which}, but the list has only ${left} whose namespace is not known: it may lack living containers; nothing is released by the list there. Add the containers of every runtime of the node, such as those of docker ps -q; if none of these namespaces is that of a container of ${network}, add --force`;
}
