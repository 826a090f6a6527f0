/**
 * The addresses that pods had, for `"sticky": "pod"`: noted by ADD, and again when they are released. So a pod is known
 * even if another plugin released its address, or nobody has yet.
 */

import type { InterfaceName } from "../../cni/attachment.ts";
import { formatPod, type Pod } from "../../cni/pod.ts";
import { type Address, formatAddress, parseAddress } from "../../ipam/address.ts";
import { exists, type System } from "../../system/system.ts";
import { join, type Location } from "../files/paths.ts";
import { readStateLines, writeStateLines } from "../files/state-file.ts";

/** The name of the file, in the state directory. */
const FILE = "sticky";

/** What the first line is. */
const FORM = "host-local-sticky 1";

/** No more addresses are remembered; the oldest are forgotten first. */
const MOST = 512;

/** An interface of a pod, which keeps its addresses: `<namespace>/<name> <interface>`. */
export type StickyOwner = string & { readonly proof: "sticky owner" };

/** A namespace or name; both are DNS labels or subdomains in Kubernetes. */
const NAME = /^[\w.-]{1,253}$/;

/** A remembered address. */
export interface Remembered {
  readonly owner: StickyOwner;
  readonly address: string;
  /** When it was handed out or, later, released, in milliseconds since the epoch. */
  readonly time: number;
}

/** The owner of the addresses of a call; `undefined` where it does not tell namespace and name of its pod. */
export function stickyOwnerOf(pod: Pod, interfaceName: InterfaceName): StickyOwner | undefined {
  if (!NAME.test(pod.namespace) || !NAME.test(pod.name)) return undefined;
  return `${formatPod(pod)} ${interfaceName}` as StickyOwner;
}

/**
 * The addresses that are remembered, the oldest first; needs no lock.
 *
 * @param released the names of those that were found released just now, whose time only begins
 */
export function rememberedAddresses(
  system: System,
  location: Location,
  seconds: number,
  released: readonly string[],
): readonly Remembered[] {
  const oldest = system.now() - seconds * 1000;
  return readAll(system, location).filter(
    ({ time, address }) => time > oldest || released.includes(address),
  );
}

/**
 * Remembers the addresses of a pod, in place of those that it had.
 *
 * @param seconds how long others avoid them
 * @param released as of `rememberedAddresses`
 * @throws SystemError
 */
export function remember(
  system: System,
  location: Location,
  owner: StickyOwner,
  addresses: readonly Address[],
  seconds: number,
  released: readonly string[],
): void {
  const names = addresses.map(formatAddress);
  const time = system.now();
  const others = kept(system, location, seconds, released).filter(
    (one) => one.owner !== owner && !names.includes(one.address),
  );
  write(system, location, [...others, ...names.map((address) => ({ owner, address, time }))]);
}

/**
 * Notes that addresses are released now: from then on they are remembered for some time.
 *
 * @param names those of their files
 * @throws SystemError
 */
export function rememberReleased(
  system: System,
  location: Location,
  names: readonly string[],
  seconds: number | undefined,
): void {
  const time = system.now();
  const isReleased = ({ address }: Remembered): boolean => names.includes(address);
  const all = kept(system, location, seconds ?? Number.POSITIVE_INFINITY, names);
  const released = all.filter(isReleased).map((one) => ({ ...one, time }));
  if (released.length === 0) return;
  write(system, location, [...all.filter((one) => !isReleased(one)), ...released]);
}

/** Without those whose time is over; the time of a pod that still has its address has not begun. */
function kept(
  system: System,
  location: Location,
  seconds: number,
  released: readonly string[],
): readonly Remembered[] {
  const oldest = system.now() - seconds * 1000;
  return readAll(system, location).filter(
    ({ time, address }) =>
      time > oldest ||
      released.includes(address) ||
      exists(system, join(location.directory, address)),
  );
}

function readAll(system: System, location: Location): readonly Remembered[] {
  const [header, ...lines] = readStateLines(system, location, FILE);
  return header === FORM ? lines.flatMap(rememberedIn) : [];
}

function rememberedIn(line: string): readonly Remembered[] {
  const [pod, interfaceName, address = "", text, ...rest] = line.split(" ");
  const time = Number(text);
  if (parseAddress(address) === undefined || Number.isNaN(time) || rest.length > 0) return [];
  return [{ owner: `${pod} ${interfaceName}` as StickyOwner, address, time }];
}

function write(system: System, location: Location, all: readonly Remembered[]): void {
  if (!location.usesStateDirectory) return;
  const lines = all.slice(-MOST).map(({ owner, address, time }) => `${owner} ${address} ${time}`);
  writeStateLines(system, location, FILE, lines.length === 0 ? [] : [FORM, ...lines]);
}
