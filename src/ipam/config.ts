/** The network configuration as IPAM understands it, checked once. */

import type { NetworkConfiguration, NetworkName } from "../cni/call.ts";
import { callerArgument } from "../cni/caller-argument.ts";
import { CniError, internalError } from "../cni/error.ts";
import {
  elements,
  isObject,
  type Located,
  memberInAnyCase,
  memberOrNullInAnyCase,
  text,
  typeMismatch,
} from "../cni/json.ts";
import type { ResultRoute } from "../cni/result.ts";
import type { Address } from "./address.ts";
import { excludedIn } from "./exclusion-fields.ts";
import type { Excluded } from "./exclusions.ts";
import { absolutePath, nameOf } from "./fields.ts";
import type { Partition } from "./partition.ts";
import { type PartitionSettings, partitionSettings } from "./partition-fields.ts";
import { rangeIn, rangeSetsIn } from "./range-fields.ts";
import type { RangeSet, RangeSetSpec } from "./range-set.ts";
import { requestedAddresses, requestedIn, requestedInText } from "./requested-addresses.ts";
import { parseRoute } from "./route.ts";

export const DEFAULT_DATA_DIR = "/var/lib/cni/networks";

export const DEFAULT_LOCK_TIMEOUT_SECONDS = 30;

/** The length at which the history is rotated, in bytes, unless `history.maxBytes` says otherwise. */
export const DEFAULT_HISTORY_BYTES = 4 * 1024 * 1024;

/** The bounds of `history.maxBytes`. */
const LEAST_HISTORY_BYTES = 4096;
const MOST_HISTORY_BYTES = 64 * 1024 * 1024;

/** What `"sticky": "pod"` stands for. */
const POD = ["K8S_POD_NAMESPACE", "K8S_POD_NAME"];

/** A day. */
const DEFAULT_STICKY_SECONDS = 86_400;

/** The keys of `ipam` that the Go plugin reads. */
export const goKeys = [
  "type",
  "name",
  "dataDir",
  "ranges",
  "subnet",
  "rangeStart",
  "rangeEnd",
  "gateway",
  "routes",
  "resolvConf",
] as const;

/** The keys of `ipam` that this plugin adds; CONTRIBUTING.md says what belongs to a new one. */
export const ownKeys = [
  "exclude",
  "reserved",
  "requested",
  "rangesFile",
  "partition",
  "repeatedAdd",
  "history",
  "reclaim",
  "reuseDelaySeconds",
  "sticky",
  "stickySeconds",
  "exhaustedStatus",
  "lockTimeoutSeconds",
] as const;

type IpamKey = (typeof goKeys)[number] | (typeof ownKeys)[number];

/** A member of `ipam`. */
const setting: (ipam: Located, key: IpamKey) => Located | undefined = memberInAnyCase;

/** Where the reservations of a network are, which is all that DEL and GC need. */
export interface StoreConfig {
  readonly network: NetworkName;
  readonly dataDir: string;
  readonly lockTimeoutSeconds: number;
  /** The length at which the history is rotated, in bytes; `undefined` where there is none. */
  readonly historyBytes: number | undefined;
  /** Whether an address is reclaimed from a container whose network namespace is proven gone (`reclaim` is not `"never"`). */
  readonly reclaims: boolean;
  readonly reuse: Reuse;
}

/** How long a released address is avoided: in seconds, 0 for no time; or as long as the node's conntrack asks for. */
export type ReuseDelay = number | "conntrack";

/** How addresses that were released are used again. */
export interface Reuse {
  /** How long a released address is avoided (`reuseDelaySeconds`). */
  readonly delay: ReuseDelay;
  /** Who gets the same addresses again; `undefined` for nobody. */
  readonly sticky: Sticky | undefined;
}

/** How a pod is recognized that gets its addresses again when it comes back, and for how long they are remembered. */
export interface Sticky {
  /** The names of the arguments of a call that tell who it is about, at least one. */
  readonly by: readonly string[];
  /** How long, in seconds (`stickySeconds`). */
  readonly seconds: number;
}

/** Everything that ADD and CHECK need. */
export interface IpamConfig extends StoreConfig, Excluded {
  /** The range sets, or this node's parts of them where there is a partition. */
  readonly rangeSets: readonly RangeSet[];
  readonly partition: Partition | undefined;
  /** The addresses that the runtime requests, each once, in the order of the request. */
  readonly requested: readonly Address[];
  readonly routes: readonly ResultRoute[];
  /** Path of a `resolv.conf`; empty where none is configured. */
  readonly resolvConf: string;
  /** Whether a repeated ADD gets the addresses that the attachment holds (`repeatedAdd` is `"same"`). */
  readonly repeatsAnswer: boolean;
  /** Whether STATUS fails while a range set is exhausted (`exhaustedStatus` is `"unavailable"`). */
  readonly failsWhenExhausted: boolean;
}

/** What a configuration says by itself, before the files of the node are read that it names. */
export interface WrittenConfig {
  readonly config: Omit<IpamConfig, "rangeSets" | "partition">;
  /** The range sets that are in it, also those that a partition divides. */
  readonly ranges: readonly RangeSetSpec[];
  /** The path of the file with further ones; empty where there is none. */
  readonly rangesFile: string;
  /** Which file has the podCIDR by which they are divided. */
  readonly partition: PartitionSettings | undefined;
}

/**
 * Reads and checks what a configuration says by itself; errors have the Go plugin's words and order.
 *
 * @param args the value of `CNI_ARGS`
 * @throws CniError 999 with the path in its details
 */
export function readConfig({ name, document }: NetworkConfiguration, args: string): WrittenConfig {
  const ipam = memberInAnyCase(document, "ipam");
  const settings = ipam && readIpam(ipam, name);
  const runtimeConfig = memberInAnyCase(document, "runtimeConfig");
  const runtimeIPs = requestedIn(runtimeConfig && memberInAnyCase(runtimeConfig, "ips"));
  const runtimeRanges = rangeSetsIn(runtimeConfig && memberInAnyCase(runtimeConfig, "ipRanges"));
  const conventional = memberInAnyCase(document, "args");
  const cniArgs = conventional && memberInAnyCase(conventional, "cni");
  const argumentIPs = requestedIn(cniArgs && memberInAnyCase(cniArgs, "ips"));
  if (settings === undefined) throw missingIpam();

  const { config, ranges, rangesFile, partition, requestedBy } = settings;
  const byName = requestedBy.flatMap((name) =>
    requestedInText(callerArgument(name, args, document), name),
  );
  const requested = requestedAddresses(args, [...argumentIPs, ...runtimeIPs, ...byName]);
  const key = partition === undefined ? "rangesFile" : "partition";
  if (partition !== undefined || rangesFile !== "") requireNone([...runtimeRanges, ...ranges], key);
  return {
    config: { ...config, requested },
    ranges: [...runtimeRanges, ...ranges, ...(partition?.ranges ?? [])],
    rangesFile,
    partition: partition?.settings,
  };
}

/**
 * Reads only what a release needs: a runtime may send a configuration without its ranges, and an address must not leak
 * because of that. An invalid key counts as absent, except `dataDir`.
 *
 * @throws CniError 999 where `ipam` is not an object or `ipam.dataDir` not a string
 */
export function loadStoreConfig({ name, document }: NetworkConfiguration): StoreConfig {
  const ipam = memberInAnyCase(document, "ipam");
  if (ipam === undefined) throw missingIpam();
  return storeConfig(ipam, name, (key, read) => {
    try {
      return read(setting(ipam, key));
    } catch (error) {
      if (error instanceof CniError) return read(undefined);
      throw error;
    }
  });
}

/**
 * Whether the plugin runs in the chain after a main plugin, only to receive GC and STATUS.
 *
 * @throws CniError 999 where `gcOnly` is neither true nor false
 */
export function isGcOnly({ document }: Pick<NetworkConfiguration, "document">): boolean {
  return trueOrFalse(memberInAnyCase(document, "gcOnly"), false);
}

/** Whether the configuration has or names any range; ranges that the runtime provides are not sent with STATUS and GC. */
export function hasRanges({ document }: NetworkConfiguration): boolean {
  const ipam = memberInAnyCase(document, "ipam");
  if (ipam === undefined) return false;
  return (
    setting(ipam, "subnet") !== undefined ||
    elements(setting(ipam, "ranges")).length > 0 ||
    rangesIn(setting(ipam, "partition")).length > 0 ||
    absolutePath(setting(ipam, "rangesFile")) !== ""
  );
}

/** Everything in `ipam`; its ranges are not checked yet, since others come before and after them. */
interface IpamSettings {
  readonly config: Omit<IpamConfig, "rangeSets" | "partition" | "requested">;
  readonly ranges: readonly RangeSetSpec[];
  readonly rangesFile: string;
  /** The names of arguments that request addresses. */
  readonly requestedBy: readonly string[];
  readonly partition:
    | { readonly settings: PartitionSettings; readonly ranges: readonly RangeSetSpec[] }
    | undefined;
}

function readIpam(ipam: Located, network: NetworkName): IpamSettings {
  text(setting(ipam, "type"));
  text(setting(ipam, "name"));
  const exhaustedStatus = choice(setting(ipam, "exhaustedStatus"), "ready", "unavailable");
  const shortForm = rangeIn(ipam);
  const ranges = rangeSetsIn(setting(ipam, "ranges"));
  const store = storeConfig(ipam, network, (key, read) => read(setting(ipam, key)));
  const config = {
    ...store,
    ...excludedIn(setting(ipam, "exclude"), setting(ipam, "reserved")),
    routes: elements(setting(ipam, "routes")).map(parseRoute),
    resolvConf: text(setting(ipam, "resolvConf"), "the path of a file"),
    repeatsAnswer: choice(setting(ipam, "repeatedAdd"), "error", "same") === "same",
    failsWhenExhausted: exhaustedStatus === "unavailable",
  };
  // A template that has left it null must not hand out the whole range.
  const partition = memberOrNullInAnyCase(ipam, "partition");
  const partitioned = partitionSettings(partition);
  return {
    config,
    ranges:
      shortForm.subnet === undefined ? ranges : [{ path: "ipam", ranges: [shortForm] }, ...ranges],
    rangesFile: absolutePath(setting(ipam, "rangesFile")),
    requestedBy: requestedBy(setting(ipam, "requested")),
    partition: partitioned && { settings: partitioned, ranges: rangesIn(partition) },
  };
}

/** The range sets that a partition divides. */
function rangesIn(partition: Located | undefined): readonly RangeSetSpec[] {
  return rangeSetsIn(partition && memberInAnyCase(partition, "ranges"));
}

/**
 * Refuses ranges where the Go plugin finds them beside `rangesFile` and `partition`: it does not know the keys, and would
 * hand out these alone, and of what a partition divides all of it on every node.
 *
 * @throws CniError 999
 */
function requireNone([found]: readonly RangeSetSpec[], key: "rangesFile" | "partition"): void {
  if (found === undefined) return;
  const place =
    key === "partition" ? "at ipam.partition.ranges or in ipam.rangesFile" : "in ipam.rangesFile";
  throw internalError(
    `invalid ${key}: ranges outside of it`,
    `expected all ranges ${place}, where the Go plugin does not find them; found some at ${found.path}`,
  );
}

/** Reads a key of `ipam`. */
type ReadKey = <T>(key: IpamKey, read: (at: Located | undefined) => T) => T;

function storeConfig(ipam: Located, network: NetworkName, read: ReadKey): StoreConfig {
  const dataDir = text(setting(ipam, "dataDir"), "a directory");
  const delay = read("reuseDelaySeconds", reuseDelay);
  const by = read("sticky", stickyBy);
  const stickySeconds = read("stickySeconds", seconds) ?? DEFAULT_STICKY_SECONDS;
  return {
    network,
    dataDir: dataDir === "" ? DEFAULT_DATA_DIR : dataDir,
    lockTimeoutSeconds: read("lockTimeoutSeconds", seconds) ?? DEFAULT_LOCK_TIMEOUT_SECONDS,
    historyBytes: read("history", historyBytes),
    reclaims: read("reclaim", (at) => choice(at, "whenFull", "never")) === "whenFull",
    reuse: { delay, sticky: by && { by, seconds: stickySeconds } },
  };
}

/**
 * A member that is one of two words.
 *
 * @param others what else is valid, for the error
 */
function choice<A extends string, B extends string>(
  at: Located | undefined,
  byDefault: A,
  other: B,
  others = "",
): A | B {
  const value = at === undefined ? byDefault : text(at);
  if (value === byDefault) return byDefault;
  if (value === other) return other;
  throw internalError(
    `invalid ${nameOf(at)}: ${value}`,
    others === ""
      ? `expected "${byDefault}" (the default) or "${other}" at ${at?.path}`
      : `expected "${byDefault}" (the default), "${other}"${others} at ${at?.path}`,
  );
}

/** The names of arguments that tell who a call is about; `undefined` where nobody gets the same addresses again. */
function stickyBy(at: Located | undefined): readonly string[] | undefined {
  if (at !== undefined && isObject(at.value)) return namesBy(at);
  return choice(at, "none", "pod", ' or {"by": [names]}') === "pod" ? POD : undefined;
}

/** The names of arguments that request addresses; none where none do. */
function requestedBy(at: Located | undefined): readonly string[] {
  if (at === undefined) return [];
  if (!isObject(at.value)) throw typeMismatch(at, '{"by": [names]}');
  return namesBy(at);
}

/** The names of arguments at `by`. */
function namesBy(at: Located): readonly string[] {
  const by = elements(memberInAnyCase(at, "by")).map((name) =>
    text(name, "the name of an argument"),
  );
  if (by.length > 0 && !by.includes("")) return by;
  throw internalError(
    `invalid ${nameOf(at)}: no argument`,
    `expected names such as "K8S_POD_NAME", at least one, at ${at.path}.by`,
  );
}

function trueOrFalse(at: Located | undefined, byDefault: boolean): boolean {
  const value = at === undefined ? byDefault : at.value;
  if (at !== undefined && typeof value !== "boolean") throw typeMismatch(at, "true or false");
  return value === true;
}

/** @param others what else is valid, for the error */
function seconds(at: Located | undefined, others = ""): number | undefined {
  if (at === undefined) return undefined;
  const { value } = at;
  if (typeof value === "number" && value >= 0 && Number.isFinite(value)) return value;
  throw typeMismatch(at, `a number of seconds, 0 or more${others}`);
}

function reuseDelay(at: Located | undefined): ReuseDelay {
  return at?.value === "conntrack" ? at.value : (seconds(at, ', or "conntrack"') ?? 0);
}

function historyBytes(at: Located | undefined): number | undefined {
  if (at === undefined || at.value === false) return undefined;
  if (at.value === true) return DEFAULT_HISTORY_BYTES;
  if (!isObject(at.value)) throw typeMismatch(at, 'true, false or {"maxBytes": number}');
  const limit = memberInAnyCase(at, "maxBytes");
  if (limit === undefined) return DEFAULT_HISTORY_BYTES;
  const { value } = limit;
  const isWithin =
    Number.isInteger(value) &&
    Number(value) >= LEAST_HISTORY_BYTES &&
    Number(value) <= MOST_HISTORY_BYTES;
  if (isWithin) return Number(value);
  throw typeMismatch(limit, `a whole number from ${LEAST_HISTORY_BYTES} to ${MOST_HISTORY_BYTES}`);
}

function missingIpam(): Error {
  return internalError(
    "IPAM config missing 'ipam' key",
    'expected an object such as {"type": "host-local", "subnet": "10.1.2.0/24"} at ipam',
  );
}
