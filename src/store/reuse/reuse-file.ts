/**
 * The addresses that were handed out and released, for `sticky` and `reuseDelaySeconds`: for whom, and when by two clocks. What
 * somebody had counts by the wall clock, also after a boot. An address cools down by the clock that begins with the boot:
 * nothing that sent to it before has survived on this node.
 */

import { parseAddress } from "../../ipam/address.ts";
import { exists } from "../../system/system.ts";
import { type BootId, isBootId } from "../files/boot-id.ts";
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

/** The line of a record: address, wall clock, boot, clock of the boot, and the owner, if any. */
const LINE = /^(\S+) ([0-9]+) (\S+) ([0-9]+)(?: (\S+(?: \S+)+))?$/;

/** What stands in place of the boot where it is not known. */
const NO_BOOT = "-";

/** An address that was handed out, or released. */
export interface ReuseRecord {
  /** The name of its reservation. */
  readonly address: string;
  /** When it was handed out or, later, released, in milliseconds since the epoch. */
  readonly time: number;
  /** The boot in which it was released; `undefined` where it was not, or that is not known. */
  readonly boot: BootId | undefined;
  /** When it was, in milliseconds since that boot. */
  readonly clock: number;
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
  /** The addresses that somebody has got, in place of those that he had; or nobody. */
  readonly reserved: Handed;
  /** The names of the reservations that were released. */
  readonly released: readonly string[];
}

/** How long records are of use, in seconds: infinite where that is not known. */
export interface ReuseTimes {
  readonly sticky: number;
  readonly delay: number;
}

/** The records, the oldest first, also those whose time is over; needs no lock. */
export function readReuse({ state }: NetworkFiles): readonly ReuseRecord[] {
  const [header, ...lines] = state?.lines(FILE, LARGEST) ?? [];
  return header === FORM ? lines.flatMap(recordIn) : [];
}

/** The addresses that cool down for so many seconds, each with the milliseconds since its release. */
export function coolingAmong(
  files: NetworkFiles,
  records: readonly ReuseRecord[],
  seconds: number,
): ReadonlyMap<string, number> {
  const boot = files.boot();
  const now = files.system.monotonic();
  const ages = new Map<string, number>();
  for (const record of records) {
    const age = now - record.clock;
    const isOfBoot = record.boot !== undefined && record.boot === boot;
    if (isOfBoot && age >= 0 && age < seconds * 1000) ages.set(record.address, age);
  }
  return ages;
}

/**
 * Notes what a call has changed. Those whose times are over are forgotten; that of an address which somebody still has has
 * not begun.
 *
 * @param records as read from the file
 * @param notesAll whether the release of an address is noted that nobody had
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
  const cooling = coolingAmong(files, records, times.delay);
  const time = system.now();
  const oldest = time - times.sticky * 1000;
  const isRemembered = (record: ReuseRecord): boolean =>
    record.owner !== undefined &&
    record.owner !== reserved.owner &&
    (record.time > oldest || exists(system, files.pathOf(record.address)));
  const reservedNow = new Set(reserved.addresses);
  const changed = new Set([...noted, ...reservedNow]);
  const left = records.flatMap((record) => {
    if (changed.has(record.address)) return [];
    if (isRemembered(record)) return [record];
    return cooling.has(record.address) ? [{ ...record, owner: undefined }] : [];
  });
  const boot = files.boot();
  const others = [...new Set(noted)].filter((address) => !reservedNow.has(address));
  const releasedNow = others.map((address): ReuseRecord => {
    const owner = known.get(address)?.owner;
    const isReplaced = owner === reserved.owner;
    return {
      address,
      time,
      boot,
      clock: system.monotonic(),
      owner: isReplaced ? undefined : owner,
    };
  });
  const handed = [...reservedNow].map((address): ReuseRecord => {
    return { address, time, boot: undefined, clock: 0, owner: reserved.owner };
  });
  write(files, [...left, ...releasedNow, ...handed]);
}

function recordIn(line: string): readonly ReuseRecord[] {
  const [, address = "", time, boot = "", clock, owner] = LINE.exec(line) ?? [];
  if (parseAddress(address) === undefined) return [];
  return [
    {
      address,
      time: Number(time),
      boot: isBootId(boot) ? boot : undefined,
      clock: Number(clock),
      owner: owner as StickyOwner | undefined,
    },
  ];
}

function write({ state }: NetworkFiles, all: readonly ReuseRecord[]): void {
  const lines = all.slice(-MOST).map(({ address, time, boot = NO_BOOT, clock, owner }) => {
    const words = `${address} ${time} ${boot} ${clock}`;
    return owner === undefined ? words : `${words} ${owner}`;
  });
  state?.replaceLines(FILE, lines.length === 0 ? [] : [FORM, ...lines]);
}
