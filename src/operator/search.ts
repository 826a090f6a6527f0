/** Reservations by address, container or pod. */

import { isIdentifier } from "../cni/attachment.ts";
import { type Address, isSame, parseAddress } from "../ipam/address.ts";
import { parsePrefix } from "../ipam/prefix.ts";
import { CannotLook, type Context } from "./command.ts";
import { containerOf, type Item, takeInventory, tellUnreadable } from "./inventory.ts";
import type { FoundNetwork } from "./networks.ts";
import type { Pods } from "./pods.ts";

/** What somebody looks for. */
export type Wanted =
  | { readonly kind: "address"; readonly address: Address }
  | { readonly kind: "container"; readonly id: string }
  /** `namespace/name`. */
  | { readonly kind: "pod"; readonly pod: string };

/** What was found; containers that are meant by one prefix are `candidates`, and nothing is found. */
export interface Findings {
  readonly items: readonly Item[];
  readonly candidates: readonly string[];
}

/**
 * Understands an operand: an address, also with a prefix length as results show it; `namespace/name` of a pod; or else
 * a container id.
 *
 * @throws CannotLook where it can be none of them
 */
export function readWanted(operand: string): Wanted {
  const address = parseAddress(operand) ?? parsePrefix(operand)?.address;
  if (address !== undefined) return { kind: "address", address };
  if (/^[^/]+\/[^/]+$/.test(operand)) return { kind: "pod", pod: operand };
  if (isIdentifier(operand)) return { kind: "container", id: operand };
  throw new CannotLook(
    `expected an address, a container id or a pod as namespace/name; found ${JSON.stringify(operand)}`,
  );
}

/** Looks through networks, each directory once. */
export function search(
  context: Context,
  networks: readonly FoundNetwork[],
  wanted: Wanted,
  pods: Pods,
): Findings {
  const { system } = context;
  const look = (isWanted?: (address: Address) => boolean): readonly Item[] =>
    networks.flatMap((network) => takeInventory(system, network, isWanted));
  if (wanted.kind === "address") {
    const items = look((address) => isSame(address, wanted.address));
    return { items, candidates: [] };
  }
  const all = look();
  tellUnreadable(context, all);
  if (wanted.kind === "pod") {
    // A pod that was started anew has had several sandboxes.
    return { items: all.filter((item) => pods.of(item) === wanted.pod), candidates: [] };
  }
  const exact = all.filter(({ owner }) => containerOf(owner) === wanted.id);
  if (exact.length > 0) return { items: exact, candidates: [] };
  const alike = all.filter(({ owner }) => containerOf(owner).startsWith(wanted.id));
  const candidates = [...new Set(alike.map(({ owner }) => containerOf(owner)))];
  return candidates.length === 1 ? { items: alike, candidates: [] } : { items: [], candidates };
}
