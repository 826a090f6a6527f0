/**
 * The addresses that somebody had, a pod or a virtual machine, for `sticky`: noted by ADD, and again when they are released.
 * So he is known even if another plugin released his address, or nobody has yet.
 */

import type { InterfaceName } from "../../cni/attachment.ts";
import { parseAddress } from "../../ipam/address.ts";
import { exists } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";

/** The name of the file, in the state directory. */
const FILE = "sticky";

/** What the first line is. */
const FORM = "host-local-sticky 1";

/** No more addresses are remembered; the oldest are forgotten first. */
const MOST = 512;

/** The file is not larger, in bytes. */
const LARGEST = MOST * 1024;

/** An interface of somebody, which keeps its addresses: `<value> <value> <interface>`. */
export type StickyOwner = string & { readonly proof: "sticky owner" };

/** A value that tells whose interface it is, such as a pod's name or a MAC address. */
const VALUE = /^[!-~]{1,253}$/;

/** No owner is longer, in characters. */
const LONGEST_OWNER = 900;

/** The line of a remembered address. */
const LINE = /^(\S+(?: \S+)+) (\S+) ([0-9]+)$/;

/** A remembered address. */
export interface Remembered {
  readonly owner: StickyOwner;
  readonly address: string;
  /** When it was handed out or, later, released, in milliseconds since the epoch. */
  readonly time: number;
}

/** What a call changes. */
export interface StickyChange {
  /** The addresses that somebody has got, in place of those that he had; `undefined` for a call that reserves none. */
  readonly reserved:
    | { readonly owner: StickyOwner; readonly addresses: readonly string[] }
    | undefined;
  /** The names of the reservations that were released: from now on they are remembered for some time. */
  readonly released: readonly string[];
}

/** The owner of the addresses of a call; `undefined` where a value is missing or not in printable ASCII. */
export function stickyOwnerOf(
  values: readonly string[],
  interfaceName: InterfaceName,
): StickyOwner | undefined {
  const owner = [...values, interfaceName].join(" ");
  const isKnown = values.every((value) => VALUE.test(value)) && owner.length <= LONGEST_OWNER;
  return isKnown ? (owner as StickyOwner) : undefined;
}

/** The addresses in the file, the oldest first, also those whose time is over; needs no lock. */
export function readRemembered({ state }: NetworkFiles): readonly Remembered[] {
  const [header, ...lines] = state?.lines(FILE, LARGEST) ?? [];
  return header === FORM ? lines.flatMap(rememberedIn) : [];
}

/**
 * Notes what a call has changed. Those whose time is over are forgotten; that of an address which is still in use has
 * not begun.
 *
 * @param remembered as read from the file
 * @param seconds how long others avoid an address; `undefined` where that is not known
 * @throws SystemError
 */
export function updateRemembered(
  files: NetworkFiles,
  remembered: readonly Remembered[],
  { reserved, released }: StickyChange,
  seconds: number | undefined,
): void {
  const time = files.system.now();
  const oldest = time - (seconds ?? Number.POSITIVE_INFINITY) * 1000;
  const isReleased = ({ address }: Remembered): boolean => released.includes(address);
  const isReplaced = ({ owner, address }: Remembered): boolean =>
    owner === reserved?.owner || reserved?.addresses.includes(address) === true;
  if (reserved === undefined && !remembered.some(isReleased)) return;
  const lasting = remembered.filter(
    (one) =>
      !isReplaced(one) &&
      !isReleased(one) &&
      (one.time > oldest || exists(files.system, files.pathOf(one.address))),
  );
  const releasedNow = remembered
    .filter((one) => !isReplaced(one) && isReleased(one))
    .map((one) => ({ ...one, time }));
  const reservedNow =
    reserved?.addresses.map((address) => ({ owner: reserved.owner, address, time })) ?? [];
  write(files, [...lasting, ...releasedNow, ...reservedNow]);
}

function rememberedIn(line: string): readonly Remembered[] {
  const [, owner, address = "", time] = LINE.exec(line) ?? [];
  if (owner === undefined || parseAddress(address) === undefined) return [];
  return [{ owner: owner as StickyOwner, address, time: Number(time) }];
}

function write({ state }: NetworkFiles, all: readonly Remembered[]): void {
  const lines = all.slice(-MOST).map(({ owner, address, time }) => `${owner} ${address} ${time}`);
  state?.replaceLines(FILE, lines.length === 0 ? [] : [FORM, ...lines]);
}
