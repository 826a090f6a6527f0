/** How the addresses of a network are used again, during a call that holds its lock. */

import { type Address, formatAddress, parseAddress } from "../../ipam/address.ts";
import type { Reuse } from "../../ipam/config.ts";
import { attempt } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { delaySecondsOf } from "./delay.ts";
import { ageOf, NOTHING, type ReuseRecord, readReuse, updateReuse } from "./reuse-file.ts";
import type { StickyOwner } from "./sticky.ts";

/** Which of the free addresses an attachment gets first, and which last; none of them is certain to be free. */
export interface Preferences {
  /** The addresses that it had, tried first. */
  readonly own: readonly Address[];
  /** The addresses that were released recently or that another one had, tried last: how long ago, in milliseconds. */
  readonly avoided: ReadonlyMap<string, number>;
}

/** The preferences where the configuration asks for none. */
export const NO_PREFERENCES: Preferences = { own: [], avoided: new Map() };

/** What `sticky` and `reuseDelaySeconds` need of a network: their file is read once a call, and written once, in the end. */
export class ReusedAddresses {
  readonly #files: NetworkFiles;
  readonly #reuse: Reuse | undefined;
  readonly #released: string[] = [];
  #reserved = NOTHING;
  #records: readonly ReuseRecord[] | undefined;
  #delay: number | undefined;

  /** @param reuse `undefined` where the network's configuration is not known: then what is noted goes on */
  constructor(files: NetworkFiles, reuse: Reuse | undefined) {
    this.#files = files;
    this.#reuse = reuse;
  }

  /** Whether it matters what others have released since the last call. */
  get isAsked(): boolean {
    if (this.#reuse === undefined) return false;
    return this.#reuse.delay !== 0 || this.#reuse.sticky !== undefined;
  }

  /** The reservations with these file names were released by this call, or found released. */
  released(...names: readonly string[]): void {
    for (const name of names) this.#released.push(canonical(name));
  }

  /** Notes the addresses that an owner has got, to remember them for that owner. */
  reserved(owner: StickyOwner, addresses: readonly Address[]): void {
    this.#reserved = { owner, addresses: addresses.map(formatAddress) };
  }

  /**
   * The preferences for an attachment.
   *
   * @param owner whose addresses are sticky, if the call tells
   */
  preferencesFor(owner: StickyOwner | undefined): Preferences {
    if (!this.isAsked) return NO_PREFERENCES;
    const sticky = 1000 * (this.#reuse?.sticky?.seconds ?? 0);
    const delay = 1000 * this.#delaySeconds();
    const now = this.#files.system.now();
    const released = new Set(this.#released);
    const avoided = new Map<string, number>();
    const own: Address[] = [];
    for (const record of this.#all()) {
      // The time of an address that was found released just now only begins.
      const age = released.has(record.address) ? 0 : ageOf(record, now);
      const isRemembered = record.owner !== undefined && age < sticky;
      const isOwn = isRemembered && record.owner === owner;
      const address = isOwn ? parseAddress(record.address) : undefined;
      if (address !== undefined) own.push(address);
      if (age < delay || (isRemembered && !isOwn)) avoided.set(record.address, age);
    }
    if (delay > 0) for (const address of released) avoided.set(address, 0);
    return { own, avoided };
  }

  /** Writes what this call has changed. It never makes a call fail. */
  close(): void {
    const released = this.#released;
    const reserved = this.#reserved;
    if (released.length === 0 && reserved === NOTHING) return;
    const isKnown = this.#reuse !== undefined;
    if (isKnown && !this.isAsked) return;
    attempt(() => {
      const { sticky } = this.#reuse ?? {};
      const times = isKnown
        ? { sticky: sticky?.seconds ?? 0, delay: this.#delaySeconds() }
        : { sticky: Number.POSITIVE_INFINITY, delay: Number.POSITIVE_INFINITY };
      const change = { reserved: sticky ? reserved : NOTHING, released };
      // If the keys are not known, a file shows that one of them is set.
      const notesAll = isKnown ? times.delay !== 0 : this.#all().length > 0;
      updateReuse(this.#files, this.#all(), change, times, notesAll);
    }, undefined);
  }

  #all(): readonly ReuseRecord[] {
    this.#records ??= readReuse(this.#files);
    return this.#records;
  }

  /** 0 where there is none, or that is not known. */
  #delaySeconds(): number {
    this.#delay ??= delaySecondsOf(this.#files.system, this.#reuse?.delay ?? 0);
    return this.#delay;
  }
}

/** The canonical form of a name that may be another spelling of its address; four octets have one form only. */
function canonical(name: string): string {
  const address = name.includes(":") ? parseAddress(name) : undefined;
  return address === undefined ? name : formatAddress(address);
}
