/**
 * Which addresses live in the network namespace of the node, and in those linked with it: the kernel knows that, whatever is
 * written in files.
 */

import { type Address, addressAt, type Family, formatAddress } from "../../ipam/address.ts";
import { attempt, type System } from "../../system/system.ts";

/** A network namespace that has an address: the node's own, or the id that the node's has for it (`ip netns list-id`). */
export type LinkedNamespace = "node" | number;

const NONE: readonly LinkedNamespace[] = [];

/** What stands in a line in place of an id. */
const OWN = "-";

/** The addresses, of each family as they are when they are first asked for. */
export class LinkedAddresses {
  readonly #system: System;
  readonly #caller: string | undefined;
  readonly #byAddress = new Map<
    Family,
    ReadonlyMap<string, readonly LinkedNamespace[]> | "unseen"
  >();
  #callerId: LinkedNamespace | null | undefined;

  /**
   * @param caller the path of the namespace for which an ADD is called: what it has is no obstacle. It gets an id, so that
   *   later calls see it, whatever interface a main plugin makes in it
   */
  constructor(system: System, caller?: string) {
    this.#system = system;
    this.#caller = caller;
  }

  /** The namespaces that have an address, without that of the caller; none where the kernel is not to be asked. */
  with(address: Address): readonly LinkedNamespace[] {
    const known = this.#of(address.family);
    return known === "unseen" ? NONE : (known.get(address.value.toString(16)) ?? NONE);
  }

  /** Whether the kernel cannot be asked, even about the node's own addresses. */
  isUnseen({ family }: Address): boolean {
    return this.#of(family) === "unseen";
  }

  /** Every address that another namespace than the node's has, in its canonical form, with those that do. */
  *ofOthers(): Generator<readonly [address: string, namespaces: readonly LinkedNamespace[]], void> {
    for (const family of [4, 6] as const) {
      const known = this.#of(family);
      if (known === "unseen") continue;
      for (const [digits, namespaces] of known) {
        const others = namespaces.filter((one) => one !== "node");
        if (others.length === 0) continue;
        yield [formatAddress(addressAt(family, BigInt(`0x${digits}`))), others];
      }
    }
  }

  #of(family: Family): ReadonlyMap<string, readonly LinkedNamespace[]> | "unseen" {
    const known = this.#byAddress.get(family);
    if (known !== undefined) return known;
    // First, so that what is seen without an id is nobody else's.
    const caller = this.#idOfCaller();
    const lines = attempt(() => this.#system.linkedAddresses(family), undefined);
    const found = lines === undefined ? "unseen" : namespacesIn(lines, caller);
    this.#byAddress.set(family, found);
    return found;
  }

  #idOfCaller(): LinkedNamespace | null {
    const path = this.#caller;
    if (this.#callerId !== undefined || path === undefined) return this.#callerId ?? null;
    this.#callerId = attempt(() => this.#system.namespaceId(path, true), undefined) ?? null;
    return this.#callerId;
  }
}

function namespacesIn(
  lines: string,
  caller: LinkedNamespace | null,
): ReadonlyMap<string, readonly LinkedNamespace[]> {
  const found = new Map<string, LinkedNamespace[]>();
  for (const line of lines.split("\n")) {
    const end = line.indexOf(" ");
    const id = line.slice(end + 1);
    const namespace = id === OWN ? "node" : Number(id);
    if (end < 0 || namespace === caller) continue;
    const address = line.slice(0, end);
    const known = found.get(address);
    if (known === undefined) found.set(address, [namespace]);
    else if (!known.includes(namespace)) known.push(namespace);
  }
  return found;
}
