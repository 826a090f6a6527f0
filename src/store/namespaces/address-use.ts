/** Which addresses of a network are in use, whatever its own files say: no ADD may get these. */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { type Address, formatAddress, parseAddress } from "../../ipam/address.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import { attempt, exists } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { AddressesInUse } from "./addresses-in-use.ts";
import { LinkedAddresses } from "./linked-addresses.ts";
import { lookAround, namespaceName } from "./view.ts";

/** Who uses an address. */
export type AddressUser = "node" | "container";

/** The sources of the uses of addresses; by default each is looked at when it is first asked for. */
interface Sources {
  /** The network namespace for which an ADD is called: what it has is no obstacle. */
  readonly caller?: NetworkNamespace | undefined;
  readonly linked?: LinkedAddresses;
  /** Gives what processes and mounts show. */
  readonly inUse?: () => AddressesInUse;
}

/** The uses of addresses that no network of the data directory accounts for, as the kernel knows them. */
export class AddressUse {
  readonly #files: NetworkFiles;
  readonly #caller: string | undefined;
  readonly #linked: LinkedAddresses;
  readonly #look: () => AddressesInUse;
  #inUse: AddressesInUse | undefined;
  #others: readonly string[] | undefined;

  constructor(files: NetworkFiles, { caller, linked, inUse }: Sources = {}) {
    const { system } = files;
    this.#files = files;
    this.#caller = caller && namespaceName(caller.inode);
    this.#linked = linked ?? new LinkedAddresses(system, caller?.path);
    this.#look = inUse ?? (() => new AddressesInUse(system, lookAround(system), this.#linked));
  }

  /**
   * Who uses an address; `undefined` where nobody is seen. An address that another network of the data directory has reserved
   * is that network's own: two isolated bridges may have one range.
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

  /**
   * Why an address is not taken from a container that is dead, in a clause; `undefined` where it may be. Its interface may have
   * been moved to a namespace that nothing links with the node's: what processes and mounts show counts as well, whatever other
   * networks have reserved.
   */
  whyKept(address: Address): string | undefined {
    const text = formatAddress(address);
    if (this.#linked.isUnseen(address)) {
      return `whether ${text} is in use is not known: the kernel does not tell`;
    }
    if (this.#linked.with(address).includes("node")) return `${text} is ${describeUser("node")}`;
    this.#inUse ??= this.#look();
    return this.#inUse.whyUsed(text, (user) => user.id !== this.#caller && user.isOfNode());
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
