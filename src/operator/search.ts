/** Searching the reservations of a node, and the history, for an address, a container or a pod. */

import { UsageError } from "../cli/command/command.ts";
import { isIdentifier } from "../cni/attachment.ts";
import { isPodNamed } from "../cni/pod.ts";
import { type Address, formatAddress, parseAddress } from "../ipam/address.ts";
import { parsePrefix } from "../ipam/prefix.ts";
import { containerOf } from "../store/reservations/owner.ts";
import type { FoundNetwork } from "./configured/found-network.ts";
import { logUnreadable } from "./held/network-directory.ts";
import { addressIn, describeAddress } from "./judgements/address-in-network.ts";
import type { KnownReservation } from "./judgements/lives.ts";
import { commandText } from "./next-command.ts";
import type { Node } from "./node.ts";

/** What to search for. */
export type Query =
  | { readonly kind: "address"; readonly text: string; readonly address: Address }
  /** `namespace/name`, or the name alone of one without a namespace, as podman's. */
  | { readonly kind: "pod"; readonly text: string }
  /** A container id or the beginning of one, or the name of a pod in whatever namespace. */
  | { readonly kind: "name"; readonly text: string };

/**
 * Parses an operand: an address, with or without a prefix length; `namespace/name` of a pod; a container id or a pod's name.
 *
 * @throws UsageError if it is none of these
 */
export function parseQuery(operand: string): Query {
  const address = parseAddress(operand) ?? parsePrefix(operand)?.address;
  if (address !== undefined) return { kind: "address", text: formatAddress(address), address };
  if (/^[0-9]+(?:\.[0-9]+){3}$/.test(operand)) {
    throw new UsageError(`expected an address such as 10.88.0.7, found ${operand}`);
  }
  // The namespace may be empty.
  if (/^[^/]*\/[^/]+$/.test(operand)) return { kind: "pod", text: operand.replace(/^\//, "") };
  if (isIdentifier(operand)) return { kind: "name", text: operand };
  throw new UsageError(
    `expected an address, a container id or a pod as namespace/name, found ${JSON.stringify(operand)}`,
  );
}

/**
 * Whether a reservation or an event is meant.
 *
 * @param address in its canonical form
 * @param podOf gives the pod as `namespace/name`; a file may be read for it
 */
export function matches(
  { kind, text }: Query,
  address: string,
  container: string,
  podOf: () => string,
): boolean {
  switch (kind) {
    case "address":
      return address === text;
    case "pod":
      return podOf() === text;
    case "name":
      return container.startsWith(text) || isPodNamed(podOf(), text);
  }
}

/**
 * The reservations that are meant, of the network that the command is about or of all.
 *
 * @throws SystemError if a directory cannot be read
 */
export function search(node: Node, query: Query): readonly KnownReservation[] {
  const { asked, cache, context, facts, liveness } = node;
  const all = node.askedReservations();
  if (query.kind !== "address") logUnreadable(context, all);
  // Before the entries of the cache, which name the pods: as in every command.
  facts.namespaces();
  return asked
    .flatMap((directory) => liveness.livenessIn(directory))
    .filter(({ reservation }) =>
      matches(query, reservation.text, containerOf(reservation.owner), () =>
        cache.podOf(reservation),
      ),
    );
}

/** Why a search has no result, or several: a stable `reason` for programs, and a sentence. */
export interface Hint {
  readonly reason:
    | "free"
    | "used"
    | "gateway"
    | "excluded"
    | "reserved"
    | "otherNode"
    | "outside"
    | "unknown"
    | "ambiguous";
  /** The network that it concerns; `null` if it concerns none. */
  readonly network: string | null;
  readonly text: string;
}

/** Why nothing was found: of an address, what it is in each network. */
export function whyNotFound(node: Node, query: Query): readonly Hint[] {
  const networks = query.kind === "address" ? node.askedNetworks : [];
  if (query.kind !== "address" || networks.length === 0) {
    const list = commandText(node.context, undefined, ["list"]);
    const text = `No reservation of ${query.text} is known. Only libcni's cache names pods; see: ${list}`;
    return [{ reason: "unknown", network: null, text }];
  }
  const hints = networks.map((network) => hintIn(node, network, query.address));
  return [...new Map(hints.map((hint) => [hint.text, hint])).values()];
}

function hintIn(node: Node, network: FoundNetwork, address: Address): Hint {
  const { files } = network;
  const text = formatAddress(address);
  const it = addressIn(network, address);
  const words = describeAddress(it);
  const hint = (reason: Hint["reason"], what: string): Hint => ({
    reason,
    network: files.network,
    text: `${text} has no reservation in ${files.network}. It is ${what}`,
  });
  if (it.kind !== "handedOut") return hint(it.kind, `${words}.`);
  const [user] = node.liveness.places.with(text);
  if (user === undefined) return hint("free", `free, ${words}.`);
  const check = commandText(node.context, files, ["check", files.network]);
  return hint("used", `${words}, but ${user.where} has it; see: ${check}`);
}
