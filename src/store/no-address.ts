/** The errors of an ADD for which there is no address, with what an operator does next. */

import { CniError, ErrorCode } from "../cni/error.ts";
import type { PodName } from "../cni/pod.ts";
import { DEFAULT_DATA_DIR } from "../ipam/config.ts";
import { type Excluded, exclusionsForAll } from "../ipam/exclusions.ts";
import { formatRangeSet, type RangeSet } from "../ipam/range-set.ts";
import { isEmptySet } from "../ipam/round-robin.ts";
import type { NetworkFiles } from "./files/network-files.ts";
import type { AddressUser } from "./namespaces/address-use.ts";
import type { Reservation } from "./reservations/reservation-file.ts";
import { countUsage, describeUsage, unownedIn } from "./reservations/usage.ts";

/** A range set without a free address. */
interface ExhaustedSet extends Excluded {
  readonly set: RangeSet;
  /** The pod for which the whole set is reserved. */
  readonly pod?: PodName | undefined;
}

/** No address can be handed out. */
export class NoAddressError extends CniError {
  /** Whether a container uses an address that nothing reserves: a DEL may be under way, after which it is free. */
  readonly mayPass: boolean;

  constructor(message: string, details: string, mayPass: boolean) {
    super(ErrorCode.internal, message, details);
    this.mayPass = mayPass;
  }
}

/** The addresses that an ADD may not get although nothing reserves them, in their canonical form, with those who use them. */
export type UsedAddresses = ReadonlyMap<string, AddressUser>;

/**
 * The error of a range set, or of its part that is reserved for the pod, of which no address can be handed out.
 *
 * @param reservations those of no usual form, as of `othersIn`
 * @param used those of its addresses that are in use and not reserved
 */
export function noAddressIn(
  files: NetworkFiles,
  exhausted: ExhaustedSet,
  reservations: readonly Reservation[],
  used: UsedAddresses,
): NoAddressError {
  const { set, exclusions } = exhausted;
  const details = isEmptySet(set, exclusions)
    ? faultOf(exhausted)
    : detailsOn(files, exhausted, reservations, used);
  const message = `no IP addresses available in range set: ${formatRangeSet(set)}`;
  return new NoAddressError(message, details, [...used.values()].includes("container"));
}

/** Why a range set can have no address, for this pod or for any: nothing of it is in use. */
function faultOf({ set, reserved, exclusions }: ExhaustedSet): string {
  if (!isEmptySet(set, exclusionsForAll({ exclusions, reserved }))) {
    return "every address is reserved for another pod (ipam.reserved); this one needs one there, or some that are for all";
  }
  if (reserved.length > 0) {
    return "ipam.exclude and ipam.reserved leave no address to hand out; correct them";
  }
  return exclusions.length > 0
    ? "ipam.exclude leaves no address to hand out; correct it"
    : "the range has no address but the gateway's; correct it";
}

/** How many addresses of a full range set are in use, and what helps. */
function detailsOn(
  files: NetworkFiles,
  exhausted: ExhaustedSet,
  reservations: readonly Reservation[],
  used: UsedAddresses,
): string {
  const { set, exclusions } = exhausted;
  const usage = countUsage(files, set, exclusions);
  const counts = describeUsage(usage, unownedIn(set, reservations), files);
  return `${counts}${unreservedIn(files, used)}. ${adviceOn(files, exhausted)}`;
}

/** How many addresses of a range set are in use without a reservation, and what that shows; empty where none is. */
function unreservedIn({ dataDir }: NetworkFiles, used: UsedAddresses): string {
  const ofContainers = [...used].flatMap(([address, user]) => (user === "node" ? [] : [address]));
  const ofNode = used.size - ofContainers.length;
  const node = ofNode === 0 ? "" : `; ${ofNode} more of the node itself`;
  const [first] = ofContainers;
  if (first === undefined) return node;
  const are =
    ofContainers.length === 1
      ? `${first} is`
      : `${ofContainers.length} more, such as ${first}, are`;
  return `${node}; ${are} in use by containers of this node, and not reserved: what was reserved below ${dataDir} is lost, or another program or data directory gave them (\`host-local check\` names each)`;
}

/** What helps where a range set has no free address: `check` tells who holds the addresses, which an ADD does not count. */
function adviceOn(files: NetworkFiles, { pod }: ExhaustedSet): string {
  const next = `Next: run ${operatorCommand(files, "check", files.network)}: it says whether `;
  return pod === undefined
    ? `${next}dead containers hold addresses, DELs fail, or the range is too small`
    : `${pod} gets no other address of this range set (ipam.reserved), and waits for the end of the one that has it. ${next}that one is dead`;
}

/** The advice to run `check`, up to what follows in the details, such as a trace. */
const ADVICE = /\. Next: run `host-local check [^;]*/;

/** The text of an error without the advice of a full range, for `check`, which it tells to run. */
export function withoutAdvice(text: string): string {
  return text.replace(ADVICE, "");
}

/** A command for an operator, in backquotes; it names the data directory if that is not the default. */
export function operatorCommand(
  { dataDir }: Pick<NetworkFiles, "dataDir">,
  ...words: readonly string[]
): string {
  const where = dataDir === DEFAULT_DATA_DIR ? "" : ` --data-dir ${quoted(dataDir)}`;
  return `\`host-local ${words.join(" ")}${where}\``;
}

/** A path as one word for a shell. */
function quoted(path: string): string {
  return /^[\w.:/,@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
