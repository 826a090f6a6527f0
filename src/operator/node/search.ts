/** Searches reservations by address, container or pod. */

import { UsageError } from "../../cli/command/command.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import { type Address, parseAddress } from "../../ipam/address.ts";
import { parsePrefix } from "../../ipam/prefix.ts";
import type { NodeReservation } from "./network-directory.ts";
import type { Node } from "./node.ts";
import { containerOf, logUnreadable } from "./node-reservations.ts";

/** What to search for. */
export type Query =
  | { readonly kind: "address"; readonly address: Address }
  | { readonly kind: "container"; readonly id: string }
  /** `namespace/name`; podman's pods have no namespace, as `/name`. */
  | { readonly kind: "pod"; readonly pod: string };

/** The result of a search. */
interface SearchResult {
  readonly reservations: readonly NodeReservation[];
  /** Container ids with the given prefix, if there are several; then there are no `reservations`. */
  readonly candidates: readonly string[];
  /** The pod whose name was given in place of a container id. */
  readonly pod?: string;
}

/**
 * Parses an operand: an address, with or without a prefix length; `namespace/name` of a pod; or a container id.
 *
 * @throws CommandError if it is none of these
 */
export function parseQuery(operand: string): Query {
  const address = parseAddress(operand) ?? parsePrefix(operand)?.address;
  if (address !== undefined) return { kind: "address", address };
  if (/^[^/]*\/[^/]+$/.test(operand)) return { kind: "pod", pod: operand };
  if (isIdentifier(operand)) return { kind: "container", id: operand };
  throw new UsageError(
    `expected an address, a container id or a pod as namespace/name; found ${JSON.stringify(operand)}`,
  );
}

/**
 * Searches the reservations of a node.
 *
 * @throws SystemError if a directory cannot be read
 */
export function search(node: Node, query: Query): SearchResult {
  const { context, directories, cache } = node;
  if (query.kind === "address") {
    const reservations = directories.flatMap((one) => one.reservationsAt(query.address));
    return { reservations, candidates: [] };
  }
  const all = node.reservations;
  logUnreadable(context, all);
  if (query.kind === "pod") {
    // A restarted pod has had several sandboxes.
    return { reservations: all.filter((one) => cache.podOf(one) === query.pod), candidates: [] };
  }
  const exact = all.filter(({ owner }) => containerOf(owner) === query.id);
  if (exact.length > 0) return { reservations: exact, candidates: [] };
  const matching = all.filter(({ owner }) => containerOf(owner).startsWith(query.id));
  const candidates = [...new Set(matching.map(({ owner }) => containerOf(owner)))];
  if (candidates.length === 0) return searchByName(node, query.id);
  return candidates.length === 1
    ? { reservations: matching, candidates: [] }
    : { reservations: [], candidates };
}

/** The reservations of the one pod with this name, in whatever namespace. */
function searchByName({ cache, reservations: all }: Node, name: string): SearchResult {
  const reservations = all.filter((one) => cache.podOf(one).endsWith(`/${name}`));
  const pods = [...new Set(reservations.map((one) => cache.podOf(one)))];
  const [pod] = pods;
  if (pod === undefined || pods.length > 1) return { reservations: [], candidates: [] };
  return { reservations, candidates: [], pod };
}
