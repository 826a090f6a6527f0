/** Which calls of a network fail now: those that failed, and nothing of their kind has succeeded since. */

import { ErrorCode } from "../../cni/error.ts";
import {
  type CallRecord,
  type FailedCall,
  isOfSystem,
  type KeptVerb,
  type ReturnedAddress,
} from "../../store/failed-calls/failed-call.ts";
import { cleanPath, join } from "../../store/files/paths.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { NextAdd } from "./next-add.ts";

/** The calls of a network that failed, or gave their address back at once. */
export interface NetworkCalls {
  /** Empty where a call could not read its configuration. */
  readonly network: string;
  readonly dataDir: string;
  /** `undefined` where no network of the node has this name and data directory. */
  readonly directory: NetworkDirectory | undefined;
  /** Oldest first. */
  readonly records: readonly CallRecord[];
}

/** What ADDs that succeeded have left. */
export interface AddTraces {
  /** When their cursors were last moved, in milliseconds since the epoch, see `cursorsMoved`. */
  readonly cursor: number | undefined;
  readonly reservations: readonly Pick<NodeReservation, "since">[];
}

/** The range sets of a configuration, as far as it has them. */
interface ConfiguredSets extends Pick<FoundNetwork, "reserves" | "acceptsRuntimeRanges"> {
  readonly rangeSets: readonly unknown[];
}

/** Calls of one verb that fail now. */
export interface FailingCalls {
  /** When the first of them failed, in milliseconds since the epoch. */
  readonly since: number;
  readonly count: number;
  readonly last: FailedCall;
  /** One call of each pod, or of each container where no pod is named; also one where neither is named. */
  readonly ofPods: readonly FailedCall[];
}

/** Pods that gave their address back at once, one after the other. */
export interface GivenBack {
  readonly count: number;
  readonly last: ReturnedAddress;
}

/** The codes of errors that no request of a pod brings about. */
const OF_NODE: ReadonlySet<number> = new Set([ErrorCode.ioFailure, ErrorCode.tryAgainLater]);

/** So many pods in a row are no chance: a runtime tries again every few seconds. */
const IN_A_ROW = 3;

/** What is given back within this time after its ADD, in milliseconds, is given back at once. */
const AT_ONCE = 1000;

/** The calls of each network, in the order in which these first appear. */
export function callsByNetwork(
  records: readonly CallRecord[],
  directories: readonly NetworkDirectory[],
): readonly NetworkCalls[] {
  const found = new Map<string, NetworkCalls & { readonly records: CallRecord[] }>();
  for (const record of records) {
    const directory = directories.find((candidate) => isCallOf(record, candidate));
    const { network } = record;
    const dataDir = network === "" ? "" : (directory?.files ?? record).dataDir;
    const key = `${dataDir}\n${network}`;
    const known = found.get(key) ?? { network, dataDir, directory, records: [] };
    found.set(key, known);
    known.records.push(record);
  }
  return [...found.values()];
}

/** Whether a call was one of a network. A call that could not read its configuration need not know where the files are. */
export function isCallOf({ network, dataDir }: CallRecord, { files }: NetworkDirectory): boolean {
  if (network === "" || network !== files.network) return false;
  return dataDir === "" || join(cleanPath(dataDir), network) === files.directory;
}

/**
 * When a successful ADD last moved the cursors of a network. An ADD that failed in a later range set has moved the cursors of
 * those before, so the oldest counts. Only a pod with an address of its own (`ipam.reserved`) moves none in that set.
 *
 * @param dates those of the cursors, in milliseconds since the epoch, by the index of the range set: also of sets that are not
 *   configured any more
 * @param networks the configurations of the network
 * @returns `undefined` where there is no cursor
 */
export function cursorsMoved(
  dates: ReadonlyMap<number, number>,
  networks: readonly ConfiguredSets[],
): number | undefined {
  const reserving = networks.filter(({ reserves }) => reserves);
  const areKnown = ({ rangeSets, acceptsRuntimeRanges }: ConfiguredSets): boolean =>
    rangeSets.length > 0 && !acceptsRuntimeRanges;
  // The number of sets that an ADD has is not known.
  if (reserving.length === 0 || !reserving.every(areKnown)) return newest([...dates.values()]);
  return newest(
    reserving.flatMap(({ rangeSets }) => {
      const moved = rangeSets.flatMap((_, index) => dates.get(index) ?? []);
      return moved.length === 0 ? [] : Math.min(...moved);
    }),
  );
}

/** The newest of dates, of those no later than a time; `undefined` where there is none. */
function newest(
  dates: readonly (number | undefined)[],
  latest = Number.POSITIVE_INFINITY,
): number | undefined {
  let found: number | undefined;
  for (const date of dates) {
    if (date !== undefined && date <= latest && !(Number(found) >= date)) found = date;
  }
  return found;
}

/**
 * When an ADD last reserved an address, in milliseconds since the epoch.
 *
 * @param now what is dated later was written before the clock was set back, and is left out
 * @returns `undefined` where nothing shows one
 */
export function lastAddOf({ cursor, reservations }: AddTraces, now: number): number | undefined {
  return newest([cursor, ...reservations.map(({ since }) => since)], now);
}

/**
 * The ADDs that failed since the last one that reserved an address.
 *
 * @param lastAdd when that was, of any network where theirs is not known; `undefined` where nothing shows one
 * @returns `undefined` where there are none
 */
export function failingAdds(
  records: readonly CallRecord[],
  lastAdd: number | undefined,
): FailingCalls | undefined {
  // An ADD may have moved a cursor before it failed.
  return failing(failedOf(records, "ADD").filter(({ time }) => !(time < Number(lastAdd))));
}

/**
 * Whether what a pod asks for may be why its ADDs fail: no other pod has tried since, the error is none of the system, the lock or
 * the result, and the next ADD of a pod that asks for nothing is not known to fail.
 *
 * @param next what that comes to, by each configuration of the network; none where that cannot be told
 */
export function mayBeOwnRequest(
  { ofPods, last }: FailingCalls,
  next: readonly Pick<NextAdd, "failure" | "sets">[],
): boolean {
  const [first] = ofPods;
  if (ofPods.length !== 1 || first?.container === "" || next.length === 0) return false;
  if (OF_NODE.has(last.code) || isOfSystem(last)) return false;
  return next.every(
    ({ failure, sets }) =>
      failure === undefined && sets.every(({ kind }) => kind === "free" || kind === "reserved"),
  );
}

/** What the error of an ADD has that found no address. */
const NO_ADDRESS = ": no IP addresses available in range set: ";

/**
 * Why the ADDs that failed would not fail now, in a clause, by the dry run of one and the date of the configuration.
 *
 * @param next as in `mayBeOwnRequest`
 * @param changed when the file of the configuration was last changed, in milliseconds since the epoch
 */
export function whyOver(
  { last }: FailingCalls,
  next: readonly Pick<NextAdd, "failure" | "doubt" | "sets">[],
  changed: number | undefined,
): string | undefined {
  const isFree = next.every(
    ({ failure, doubt, sets }) =>
      (failure ?? doubt) === undefined && sets.every(({ kind }) => kind === "free"),
  );
  if (next.length === 0 || !isFree) return undefined;
  if (last.message.includes(NO_ADDRESS)) return "an address is free now";
  return Number(changed) > last.time ? "its configuration was changed since" : undefined;
}

/**
 * The DELs that failed, of containers that still have the address from before; `undefined` where there are none.
 */
export function failingDels(
  records: readonly CallRecord[],
  reservations: readonly Pick<NodeReservation, "owner" | "since">[],
): FailingCalls | undefined {
  const failed = failedOf(records, "DEL");
  if (failed.length === 0) return undefined;
  const held = new Map(reservations.map(({ owner, since }) => [containerOf(owner), since ?? 0]));
  return failing(
    failed.filter(({ container, time }) => container !== "" && Number(held.get(container)) <= time),
  );
}

/** The containers whose DEL was tried, and failed: what it had is taken down already, as the interface by the plugin `bridge`. */
export function endingContainers(records: readonly CallRecord[]): ReadonlySet<string> {
  return new Set(failedOf(records, "DEL").map(({ container }) => container));
}

/** The pods that gave their address back at once, if no later one has kept its own; `undefined` where there are none. */
export function givenBack(
  records: readonly CallRecord[],
  { cursor, reservations }: AddTraces,
  now: number,
): GivenBack | undefined {
  const returned = records.filter((record) => record.kind === "returned");
  const last = returned.at(-1);
  if (last === undefined) return undefined;
  // What was reserved a moment ago may be given back in the next.
  const latest = now - AT_ONCE;
  if (cursor !== undefined && cursor > last.time && cursor <= latest) return undefined;
  const kept = newest(
    reservations.map(({ since }) => since),
    latest,
  );
  const count = returned.filter(({ time }) => !(time <= Number(kept))).length;
  return count < IN_A_ROW ? undefined : { count, last };
}

function failedOf(records: readonly CallRecord[], verb: KeptVerb): readonly FailedCall[] {
  return records
    .filter((record) => record.kind === "failed")
    .filter((record) => record.verb === verb);
}

function failing(records: readonly FailedCall[]): FailingCalls | undefined {
  const [first] = records;
  const last = records.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const byPod = new Map(records.map((record) => [record.pod || record.container, record]));
  return { since: first.time, count: records.length, last, ofPods: [...byPod.values()] };
}
