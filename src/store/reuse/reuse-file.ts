/**
 * The addresses that were handed out and released, for `sticky` and `reuseDelaySeconds`: for whom, and when. Both keys count by
 * the wall clock: somebody gets an address again also after a boot.
 */

import { parseAddress } from "../../ipam/address.ts";
import { exists } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import type { StickyOwner } from "./sticky.ts";

/** The name of the file, in the state directory. */
const FILE = "reuse";

/** What the first line is. */
const FORM = "host-local-reuse 1";

/** No more addresses are noted; the oldest are forgotten first. */
const MOST = 4096;

/** The file is not larger, in bytes. */
const LARGEST = MOST * 1024;

/** The line of a record: address, time, and the owner, if any. */
const LINE = /^(\S+) ([0-9]+)(?: (\S+(?: \S+)+))?$/;

/** An address that was handed out, or released. */
export interface ReuseRecord {
  /** The name of its reservation. */
  readonly address: string;
  /** When it was handed out or, later, released, in milliseconds since the epoch. */
  readonly time: number;
  /** Who had it; `undefined` where nobody is remembered. */
  readonly owner: StickyOwner | undefined;
}

/** The addresses that somebody has got. */
interface Handed {
  readonly owner: StickyOwner | undefined;
  readonly addresses: readonly string[];
}

/** What a call hands out that reserves nothing. */
export const NOTHING: Handed = { owner: undefined, addresses: [] };

/** What a call changes. */
export interface ReuseChange {
  /** The addresses that somebody has got, in place of those of the same owner; nobody's replace none. */
  readonly reserved: Handed;
  /** The names of the reservations that were released. */
  readonly released: readonly string[];
}

/** How long records are of use, in seconds: 0 without the key, infinite where that is not known. */
export interface ReuseTimes {
  readonly sticky: number;
  readonly delay: number;
}

/** The records, the oldest first, also those whose time is over; needs no lock. */
export function readReuse({ state }: NetworkFiles): readonly ReuseRecord[] {
  const [header, ...lines] = state?.lines(FILE, LARGEST) ?? [];
  return header === FORM ? lines.flatMap(recordIn) : [];
}

/** How long ago an address was handed out or released, in milliseconds: just now, where the clock has been set back since. */
export function ageOf({ time }: ReuseRecord, now: number): number {
  return Math.max(0, now - time);
}

/**
 * Notes what a call has changed. Records whose time is over are forgotten; the time of an address that somebody still has has
 * not begun.
 *
 * @param records as read from the file
 * @param notesAll whether the release of an address that nobody had is noted
 * @throws SystemError
 */
export function updateReuse(
  files: NetworkFiles,
  records: readonly ReuseRecord[],
  { reserved, released }: ReuseChange,
  times: ReuseTimes,
  notesAll: boolean,
): void {
  const { system } = files;
  const known = new Map(records.map((record) => [record.address, record]));
  const noted = notesAll ? released : released.filter((name) => known.has(name));
  if (reserved === NOTHING && noted.length === 0) return;
  const now = system.now();
  const isWithin = (record: ReuseRecord, seconds: number): boolean =>
    ageOf(record, now) < seconds * 1000;
  const isRemembered = (record: ReuseRecord): boolean =>
    record.owner !== undefined &&
    record.owner !== reserved.owner &&
    (isWithin(record, times.sticky) || exists(system, files.pathOf(record.address)));
  const reservedNow = new Set(reserved.addresses);
  const changed = new Set([...noted, ...reservedNow]);
  const left = records.flatMap((record) => {
    if (changed.has(record.address)) return [];
    if (isRemembered(record)) return [record];
    return isWithin(record, times.delay) ? [{ ...record, owner: undefined }] : [];
  });
  const others = [...new Set(noted)].filter((address) => !reservedNow.has(address));
  const releasedNow = others.map((address): ReuseRecord => {
    const owner = known.get(address)?.owner;
    return { address, time: now, owner: owner === reserved.owner ? undefined : owner };
  });
  const handed = [...reservedNow].map((address): ReuseRecord => {
    return { address, time: now, owner: reserved.owner };
  });
  write(files, [...left, ...releasedNow, ...handed]);
}

function recordIn(line: string): readonly ReuseRecord[] {
  const [, address = "", time, owner] = LINE.exec(line) ?? [];
  if (parseAddress(address) === undefined) return [];
  return [{ address, time: Number(time), owner: owner as StickyOwner | undefined }];
}

function write({ state }: NetworkFiles, all: readonly ReuseRecord[]): void {
  const lines = all.slice(-MOST).map(({ address, time, owner }) => {
    return owner === undefined ? `${address} ${time}` : `${address} ${time} ${owner}`;
  });
  state?.replaceLines(FILE, lines.length === 0 ? [] : [FORM, ...lines]);
}
