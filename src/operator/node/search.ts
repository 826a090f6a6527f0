/** Reservations by address, container or pod. */

import { isIdentifier } from "../../cni/attachment.ts";
import { type Address, isSame, parseAddress } from "../../ipam/address.ts";
import { parsePrefix } from "../../ipam/prefix.ts";
import { CommandError, type Context } from "../command/command.ts";
import type { FoundNetwork } from "./networks.ts";
import {
  containerOf,
  logUnreadable,
  type NodeReservation,
  readReservations,
} from "./node-reservations.ts";
import type { Pods } from "./pods.ts";

/** What somebody looks for. */
export type Query =
  | { readonly kind: "address"; readonly address: Address }
  | { readonly kind: "container"; readonly id: string }
  /** `namespace/name`. */
  | { readonly kind: "pod"; readonly pod: string };

/** What was found; containers that are meant by one prefix are `candidates`, and nothing is found. */
export interface Findings {
  readonly reservations: readonly NodeReservation[];
  readonly candidates: readonly string[];
}

/**
 * Understands an operand: an address, also with a prefix length as results show it; `namespace/name` of a pod; or else
 * a container id.
 *
 * @throws CannotLook where it can be none of them
 */
export function parseQuery(operand: string): Query {
  const address = parseAddress(operand) ?? parsePrefix(operand)?.address;
  if (address !== undefined) return { kind: "address", address };
  if (/^[^/]+\/[^/]+$/.test(operand)) return { kind: "pod", pod: operand };
  if (isIdentifier(operand)) return { kind: "container", id: operand };
  throw new CommandError(
    `expected an address, a container id or a pod as namespace/name; found ${JSON.stringify(operand)}`,
  );
}

/** Looks through networks, each directory once. */
export function search(
  context: Context,
  networks: readonly FoundNetwork[],
  query: Query,
  pods: Pods,
): Findings {
  const { system } = context;
  const look = (isWanted?: (address: Address) => boolean): readonly NodeReservation[] =>
    networks.flatMap((network) => readReservations(system, network, isWanted));
  if (query.kind === "address") {
    const reservations = look((address) => isSame(address, query.address));
    return { reservations, candidates: [] };
  }
  const all = look();
  logUnreadable(context, all);
  if (query.kind === "pod") {
    // A pod that was started anew has had several sandboxes.
    return {
      reservations: all.filter((reservation) => pods.of(reservation) === query.pod),
      candidates: [],
    };
  }
  const exact = all.filter(({ owner }) => containerOf(owner) === query.id);
  if (exact.length > 0) return { reservations: exact, candidates: [] };
  const alike = all.filter(({ owner }) => containerOf(owner).startsWith(query.id));
  const candidates = [...new Set(alike.map(({ owner }) => containerOf(owner)))];
  return candidates.length === 1
    ? { reservations: alike, candidates: [] }
    : { reservations: [], candidates };
}
