/** Which addresses of a network are in use, whatever its own files say: no ADD may get these. */

import { type Address, formatAddress, parseAddress } from "../../ipam/address.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import { attempt, exists } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { LinkedAddresses } from "./linked-addresses.ts";

/** Who uses an address. */
export type AddressUser = "node" | "container";

/** The uses of addresses that no network of the data directory accounts for, as the kernel knows them. */
export class AddressUse {
  readonly #files: NetworkFiles;
  readonly #linked: LinkedAddresses;
  #others: readonly string[] | undefined;

  /** @param linked by default as they are from now on, for a caller without a namespace of its own */
  constructor(files: NetworkFiles, linked = new LinkedAddresses(files.system)) {
    this.#files = files;
    this.#linked = linked;
  }

  /**
   * Who uses an address; `undefined` where nobody is seen. What another network of the data directory has reserved is its own: two
   * isolated bridges may have one range.
   */
  userOf(address: Address): AddressUser | undefined {
    const namespaces = this.#linked.with(address);
    if (namespaces.length === 0) return undefined;
    if (namespaces.includes("node")) return "node";
    return namespaces.length > this.#reservedByOthers(address) ? "container" : undefined;
  }

  /**
   * Whether a file has the name of an address, so that no other ADD gets it.
   *
   * @throws SystemError where that cannot be seen
   */
  isReserved(address: Address): boolean {
    const { system } = this.#files;
    const look = (): true => {
      system.linkStatus(this.#files.pathOf(formatAddress(address)));
      return true;
    };
    return attempt(look, false, "ENOENT");
  }

  /** The addresses of range sets that are in use, with those who use them. */
  *inSets(
    sets: readonly RangeSet[],
  ): Generator<readonly [address: Address, user: AddressUser], void> {
    for (const text of this.#linked.all().keys()) {
      const address = parseAddress(text);
      if (address === undefined || sets.every((set) => rangeOf(set, address) === undefined))
        continue;
      const user = this.userOf(address);
      if (user !== undefined) yield [address, user];
    }
  }

  /** Whether an address is not known to be unused: not even what the node itself has is seen. */
  mayBeUsed(address: Address): boolean {
    return this.#linked.isUnseen(address) || this.userOf(address) !== undefined;
  }

  /** How many other networks of the data directory have reserved an address. */
  #reservedByOthers(address: Address): number {
    const { system, dataDir, network } = this.#files;
    this.#others ??= attempt(() => system.list(dataDir), []).filter(
      (name) => name !== network && !name.startsWith("."),
    );
    const name = formatAddress(address);
    return this.#others.filter((other) => exists(system, `${dataDir}/${other}/${name}`)).length;
  }
}

/** What a user of an address is, in a sentence. */
export function describeUser(user: AddressUser): string {
  return user === "node"
    ? "in use by the node itself"
    : "in use by a container of this node, and not reserved";
}
