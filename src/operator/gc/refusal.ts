/** When `gc` releases nothing in a network although there are dead reservations. */

import type { Context } from "../../cli/command/command.ts";
import { CONTAINERD_LIST } from "../../cni/containerd-list.ts";
import { liveCommandOf } from "../node/live-command.ts";
import type { NodeReservation } from "../node/network-directory.ts";
import { containerOf } from "../node/node-reservations.ts";
import type { Collection } from "./gc-report.ts";
import type { LiveList } from "./live-list.ts";
import type { LiveSource } from "./live-source.ts";

/**
 * Fewer dead reservations than this are never too many: in a small network, one crash leaves most of the reservations
 * dead.
 */
const FEW = 3;

/**
 * Why nothing may be released in a network. A wrong list is wrong in every run, so a second run proves nothing.
 *
 * @returns `undefined` if nothing is dead by the list, or the list is plausible
 */
export function refusal(
  { has }: Context,
  source: LiveSource,
  collection: Collection,
): string | undefined {
  const { directory, decided } = collection;
  const isListedDead = decided.some(
    ({ seenDead, decision }) => seenDead !== undefined || decision === "inUse",
  );
  if (source.kind === "namespaces" || !isListedDead) return undefined;
  const { network } = directory.files;
  const reservations = decided.map(({ reservation }) => reservation);
  const bare = bareIdOf(source.list, reservations);
  if (bare !== undefined) {
    return `${network}: its ids have the form NAMESPACE-ID, as ${bare.id}, but the list has only ${bare.listed}; nothing was released there. Use --live-command '${CONTAINERD_LIST}'`;
  }
  const isPlausible = has("--allow-empty") || decided.some(({ decision }) => decision === "alive");
  if (!isPlausible && source.list.size === 0) {
    return "the list of live containers is empty; nothing was released. If no container is alive, add --allow-empty";
  }
  if (!isPlausible) {
    return `none of the live ids holds an address of ${network}; nothing was released there. Its runtime lists them with: ${liveCommandOf(directory.networks[0], reservations)}. If the list is right, add --allow-empty`;
  }
  if (has("--force") || !decided.some(({ decision }) => decision === "alive")) return undefined;
  return tooMany(network, collection);
}

/** A list that was cut has most of the live containers among the dead. */
function tooMany(network: string, { decided }: Collection): string | undefined {
  const named = decided.filter(({ decision }) => decision !== "unowned");
  const dead = named.filter(
    ({ seenDead, containerState }) => seenDead !== undefined && !containerState.isGone,
  );
  if (dead.length < FEW || dead.length * 2 <= named.length) return undefined;
  return `${dead.length} of the ${named.length} reservations of ${network} are dead by the list alone; nothing was released there. Check that the list is complete, and has the containers of every runtime that uses ${network}; if it is, add --force`;
}

/** A reservation whose id ends with one of the list, behind containerd's namespace. */
function bareIdOf(
  list: LiveList,
  reservations: readonly NodeReservation[],
): { readonly id: string; readonly listed: string } | undefined {
  for (const { owner } of reservations) {
    const id = containerOf(owner);
    if (list.has(id)) continue;
    for (let at = id.indexOf("-"); at > 0; at = id.indexOf("-", at + 1)) {
      const listed = id.slice(at + 1);
      if (list.has(listed)) return { id, listed };
    }
  }
  return undefined;
}
