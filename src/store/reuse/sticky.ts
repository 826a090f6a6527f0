/**
 * The addresses that pods had, for `"sticky": "pod"`: noted by ADD, and again when they are released. So a pod is known
 * even if another plugin released its address, or nobody has yet.
 */

import type { InterfaceName } from "../../cni/attachment.ts";
import { formatPod, type Pod } from "../../cni/pod.ts";
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

/** What a call changes. */
export interface StickyChange {
  /** The addresses that the pod has got, in place of those that it had; `undefined` for a call that reserves none. */
  readonly reserved:
    | { readonly owner: StickyOwner; readonly addresses: readonly string[] }
    | undefined;
  /** The names of the reservations that were released: from now on they are remembered for some time. */
  readonly released: readonly string[];
}

/** The owner of the addresses of a call; `undefined` where it does not tell namespace and name of its pod. */
export function stickyOwnerOf(pod: Pod, interfaceName: InterfaceName): StickyOwner | undefined {
  if (!NAME.test(pod.namespace) || !NAME.test(pod.name)) return undefined;
  return `${formatPod(pod)} ${interfaceName}` as StickyOwner;
}

/** The addresses in the file, the oldest first, also those whose time is over; needs no lock. */
export function readRemembered({ state }: NetworkFiles): readonly Remembered[] {
  const [header, ...lines] = state?.lines(FILE, LARGEST) ?? [];
  return header === FORM ? lines.flatMap(rememberedIn) : [];
}

/**
 * Notes what a call has changed. Those whose time is over are forgotten; that of a pod which still has its address has not
 * begun.
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
  const kept = remembered.filter(
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
  write(files, [...kept, ...releasedNow, ...reservedNow]);
}

function rememberedIn(line: string): readonly Remembered[] {
  const [pod, interfaceName, address = "", text, ...rest] = line.split(" ");
  const time = Number(text);
  if (parseAddress(address) === undefined || Number.isNaN(time) || rest.length > 0) return [];
  return [{ owner: `${pod} ${interfaceName}` as StickyOwner, address, time }];
}

function write({ state }: NetworkFiles, all: readonly Remembered[]): void {
  const lines = all.slice(-MOST).map(({ owner, address, time }) => `${owner} ${address} ${time}`);
  state?.replaceLines(FILE, lines.length === 0 ? [] : [FORM, ...lines]);
}
