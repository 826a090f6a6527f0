/** When a list of live containers is not believed in a network: nothing is dead by such a list. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Lives } from "../judgements/lives.ts";
import type { Node } from "../node.ts";
import { contradicts, type DecidedReservation } from "./decision.ts";
import type { LiveList } from "./live-list.ts";
import { CONTAINERD_LIST } from "./runtime-command.ts";

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
  { files }: NetworkDirectory,
  judged: readonly DecidedReservation[],
  { cache, liveness }: Pick<Node, "cache" | "liveness">,
  isForced: boolean,
): string | undefined {
  const { network } = files;
  const contradiction = judged.find(contradicts);
  const isUseless = contradiction !== undefined || judged.some(({ isByList }) => isByList);
  const bare = isUseless ? bareIdOf(list, judged) : undefined;
  if (bare !== undefined) {
    return `${network}: its ids have the form NAMESPACE-ID, as ${bare.id}, but the list has only ${bare.listed}; nothing is released by the list there. Use --live-command '${CONTAINERD_LIST}'`;
  }
  if (contradiction !== undefined) {
    const { reservation, conclusion } = contradiction;
    const pod = cache.podOf(reservation);
    const container = `container ${containerOf(reservation.owner)}`;
    const holder = pod === "" ? container : `${pod}, ${container}`;
    return `${network}: the list is wrong: it lacks the holder of ${reservation.text} (${holder}), which is alive: ${conclusion.reason}. Nothing is released by the list there`;
  }
  if (isForced || !judged.some(({ isByList }) => isByList)) return undefined;
  return tooMany(list, network, judged) ?? tooFew(list, network, liveness);
}

/** A list that was cut has most of the live containers among the dead. */
function tooMany(
  list: LiveList,
  network: string,
  judged: readonly DecidedReservation[],
): string | undefined {
  const named = judged.filter(({ decision }) => decision !== "unowned");
  const dead = named.filter(({ isByList }) => isByList).length;
  const remedy = `nothing is released by the list there. Check that it is complete, and has the containers of every runtime that uses ${network}; if it is, add --force`;
  if (list.size === 0) return `${network}: the list of live containers is empty; ${remedy}`;
  const hasAny = named.some(({ isListed }) => isListed);
  if (dead * 2 <= named.length || (hasAny && dead < FEW)) return undefined;
  return `${network}: ${dead} of ${named.length} reservations are dead by the list alone; ${remedy}`;
}

/**
 * Each network namespace in which processes run, and of which nothing tells whose it is, may be that of a living container whose
 * address the kernel never has, as that of a virtual machine. A list that has fewer containers than that for them lacks some.
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

/** A reservation whose id ends with one of the list, behind containerd's namespace. */
function bareIdOf(
  list: LiveList,
  judged: readonly DecidedReservation[],
): { readonly id: string; readonly listed: string } | undefined {
  for (const { reservation, isListed } of judged) {
    const id = containerOf(reservation.owner);
    if (isListed) continue;
    for (let at = id.indexOf("-"); at > 0; at = id.indexOf("-", at + 1)) {
      const listed = id.slice(at + 1);
      if (list.has(listed)) return { id, listed };
    }
  }
  return undefined;
}
