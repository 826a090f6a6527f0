/**
 * Which addresses live in the network namespace of the node, and in those linked with it: the kernel knows that, whatever is
 * written in files.
 */

import { type Address, addressAt, type Family, formatAddress } from "../../ipam/address.ts";
import { attempt, type System } from "../../system/system.ts";

/** A network namespace that has an address: the node's own, or the id that the node's has for it (`ip netns list-id`). */
export type LinkedNamespace = "node" | number;

/** What stands in a line in place of an id. */
const OWN = "-";

/** The addresses, of each family as they are when they are first asked for. */
export class LinkedAddresses {
  readonly #system: System;
  readonly #caller: string | undefined;
  readonly #isAsked: boolean;
  /** Lines as `System.linkedAddresses` has them, behind a line end; empty where the kernel is not to be asked. */
  #lines4: string | undefined;
  #lines6: string | undefined;
  #all: ReadonlyMap<string, ReadonlySet<LinkedNamespace>> | undefined;

  /**
   * @param caller the path of the namespace for which an ADD is called: what it has is no obstacle. It gets an id, so that
   *   later calls see it, whatever interface a main plugin makes in it
   * @param isAsked false where this process is known to be in another namespace than the node's: the kernel would tell of that
   */
  constructor(system: System, caller?: string, isAsked = true) {
    this.#system = system;
    this.#caller = caller;
    this.#isAsked = isAsked;
  }

  /** The namespaces that have an address, without that of the caller; none where the kernel is not to be asked. */
  with({ family, value }: Address): readonly LinkedNamespace[] {
    const lines = this.#of(family);
    // An ADD needs one of a thousand lines, so they are not taken apart.
    const start = `\n${value.toString(16)} `;
    // A namespace may have the address twice: at two interfaces, or in a list that was changed meanwhile.
    const found = new Set<LinkedNamespace>();
    for (let at = lines.indexOf(start); at >= 0; at = lines.indexOf(start, at + 1)) {
      found.add(namespaceIn(lines.slice(at + start.length, lines.indexOf("\n", at + 1))));
    }
    return [...found];
  }

  /** Whether the kernel was asked, and does not tell, not even of the node's own addresses. */
  isUnseen({ family }: Address): boolean {
    return this.#isAsked && this.#of(family) === "";
  }

  /** Every address, in its canonical form, with the namespaces that have it. */
  all(): ReadonlyMap<string, ReadonlySet<LinkedNamespace>> {
    this.#all ??= this.#readAll();
    return this.#all;
  }

  #readAll(): ReadonlyMap<string, ReadonlySet<LinkedNamespace>> {
    const found = new Map<string, Set<LinkedNamespace>>();
    for (const family of [4, 6] as const) {
      for (const line of this.#of(family).split("\n")) {
        const [digits = "", id] = line.split(" ");
        if (id === undefined) continue;
        const address = formatAddress(addressAt(family, BigInt(`0x${digits}`)));
        const known = found.get(address) ?? new Set();
        found.set(address, known.add(namespaceIn(id)));
      }
    }
    return found;
  }

  #of(family: Family): string {
    if (family === 4) {
      this.#lines4 ??= this.#ask(family);
      return this.#lines4;
    }
    this.#lines6 ??= this.#ask(family);
    return this.#lines6;
  }

  #ask(family: Family): string {
    if (!this.#isAsked) return "";
    return attempt(() => `\n${this.#system.linkedAddresses(family, this.#caller)}`, "");
  }
}

function namespaceIn(id: string): LinkedNamespace {
  return id === OWN ? "node" : Number(id);
}
