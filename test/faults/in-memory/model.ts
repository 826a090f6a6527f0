/** What the plugin ought to do, said a second time and as simply as possible: the rules over one map. */

/** A range of addresses that differ in their last digit alone: `10.0.0.` 1 to 6. */
export interface ModelRange {
  readonly prefix: string;
  readonly first: number;
  readonly last: number;
  readonly gateway: string;
  readonly length: number;
}

export type ModelSet = readonly ModelRange[];

/** An interface of a container. */
export interface ModelAttachment {
  readonly containerId: string;
  readonly interfaceName: string;
}

/** Whom a file names: an attachment, a container without an interface (an old file), or nobody. */
export type ModelOwner =
  | ModelAttachment
  | { readonly containerId: string; readonly interfaceName?: never }
  | undefined;

/** A file named by an address. */
export interface ModelFile {
  readonly content: string;
  readonly owner: ModelOwner;
  /** When it was written, in milliseconds. */
  readonly written: number;
}

/** The addresses, or the message of the error. */
export type ModelAnswer = { readonly addresses: readonly string[] } | { readonly message: string };

/** Empty files are reclaimed when they are older than this, in milliseconds. */
const SETTLED_AFTER = 10_000;

/** One network: who has which address, and where the round of each range set stands. */
export class Model {
  readonly files = new Map<string, ModelFile>();
  readonly cursors = new Map<number, string>();
  now = 0;
  readonly #sets: readonly ModelSet[];

  constructor(sets: readonly ModelSet[]) {
    this.#sets = sets;
  }

  add(attachment: ModelAttachment, requested: readonly string[]): ModelAnswer {
    const before = this.#heldBy(attachment);
    const pending = [...new Set(requested)];
    const given: string[] = [];
    const fail = (message: string): ModelAnswer => {
      for (const address of given) this.files.delete(address);
      return { message };
    };
    for (const [index, set] of this.#sets.entries()) {
      const wanted = pending.find((address) => rangeOf(set, address) !== undefined);
      if (wanted !== undefined) pending.splice(pending.indexOf(wanted), 1);
      const found =
        wanted === undefined
          ? this.#next(set, this.cursors.get(index), before, attachment.containerId)
          : this.#requested(set, wanted);
      if ("message" in found)
        return fail(`failed to allocate for range ${index}: ${found.message}`);
      const content = `${attachment.containerId}\r\n${attachment.interfaceName}`;
      this.files.set(found.address, { content, owner: attachment, written: this.now });
      this.cursors.set(index, found.address);
      given.push(found.address);
    }
    if (pending.length > 0) {
      return fail(`failed to allocate all requested IPs: ${pending.join(" ")}`);
    }
    return { addresses: given };
  }

  del(attachment: ModelAttachment): void {
    const held = this.#heldBy(attachment);
    const exact = held.filter(
      (address) => this.files.get(address)?.owner?.interfaceName !== undefined,
    );
    for (const address of exact.length > 0 ? exact : held) this.files.delete(address);
  }

  check(attachment: ModelAttachment): boolean {
    return this.#heldBy(attachment).length > 0;
  }

  gc(valid: readonly ModelAttachment[]): void {
    for (const [address, { owner }] of this.files) {
      if (owner === undefined) continue;
      const isListed = valid.some(
        ({ containerId, interfaceName }) =>
          containerId === owner.containerId &&
          (owner.interfaceName === undefined || owner.interfaceName === interfaceName),
      );
      if (!isListed) this.files.delete(address);
    }
  }

  #requested(set: ModelSet, address: string): { address: string } | { message: string } {
    if (address === rangeOf(set, address)?.gateway) {
      return { message: `requested ip ${address} is subnet's gateway` };
    }
    if (!this.files.has(address)) return { address };
    return {
      message: `requested IP address ${address} is not available in range set ${describe(set)}`,
    };
  }

  #next(
    set: ModelSet,
    cursor: string | undefined,
    before: readonly string[],
    containerId: string,
  ): { address: string } | { message: string } {
    const had = before.find((address) => rangeOf(set, address) !== undefined);
    if (had !== undefined) {
      return {
        message: `${had} has been allocated to ${containerId}, duplicate allocation is not allowed`,
      };
    }
    const round = walk(set, cursor?.trim());
    const free = round.find((address) => !this.files.has(address));
    if (free !== undefined) return { address: free };
    const address = this.#reclaim(set);
    if (address !== undefined) return { address };
    return { message: `no IP addresses available in range set: ${describe(set)}` };
  }

  /** Of the empty files the first by name is reclaimed, and no other. */
  #reclaim(set: ModelSet): string | undefined {
    const empty = [...this.files]
      .filter(
        ([address, { content, written }]) =>
          /^[\s\0]*$/.test(content) &&
          this.now - written > SETTLED_AFTER &&
          rangeOf(set, address)?.gateway !== address &&
          rangeOf(set, address) !== undefined,
      )
      .map(([address]) => address)
      .sort();
    if (empty[0] !== undefined) this.files.delete(empty[0]);
    return empty[0];
  }

  /** In the order of the names; all of them have the same length, up to their last digit. */
  #heldBy({ containerId, interfaceName }: ModelAttachment): readonly string[] {
    return [...this.files]
      .filter(
        ([, { owner }]) =>
          owner?.containerId === containerId &&
          (owner.interfaceName === undefined || owner.interfaceName === interfaceName),
      )
      .map(([address]) => address)
      .sort();
  }
}

/** The configuration of a set. */
export function configurationOf(set: ModelSet): readonly object[] {
  return set.map(({ prefix, first, last, gateway, length }) => ({
    subnet: `${prefix}${prefix.endsWith(".") ? "0" : ""}/${length}`,
    rangeStart: `${prefix}${first}`,
    rangeEnd: `${prefix}${last}`,
    gateway,
  }));
}

/**
 * The round through a set as the Go plugin makes it: from position to position, a position being a range and an
 * address, until the address of the first one comes again.
 */
export function walk(set: ModelSet, cursor: string | undefined): readonly string[] {
  const successor = ([at, digit]: readonly [number, number]): readonly [number, number] => {
    if (digit !== set[at]?.last) return [at, digit + 1];
    const next = (at + 1) % set.length;
    return [next, set[next]?.first ?? 0];
  };
  const holder = set.findIndex((range) => rangeOf([range], cursor ?? "") !== undefined);
  const start =
    holder < 0 ? ([0, set[0]?.first ?? 0] as const) : successor([holder, digitOf(cursor ?? "")]);
  const addressAt = ([at, digit]: readonly [number, number]): string =>
    `${set[at]?.prefix}${digit}`;
  const found: string[] = [];
  let position = start;
  do {
    if (addressAt(position) !== set[position[0]]?.gateway) found.push(addressAt(position));
    position = successor(position);
  } while (addressAt(position) !== addressAt(start));
  return found;
}

function rangeOf(set: ModelSet, address: string): ModelRange | undefined {
  return set.find(
    ({ prefix, first, last }) =>
      address === `${prefix}${digitOf(address)}` &&
      digitOf(address) >= first &&
      digitOf(address) <= last,
  );
}

function digitOf(address: string): number {
  return Number(address.at(-1));
}

function describe(set: ModelSet): string {
  return set.map(({ prefix, first, last }) => `${prefix}${first}-${prefix}${last}`).join(",");
}
