/** The network configuration as IPAM understands it, checked once. */

import { readArguments } from "../cni/arguments.ts";
import type { NetworkConfiguration, NetworkName } from "../cni/call.ts";
import { CniError, internalError } from "../cni/error.ts";
import { elements, isObject, type Located, member, text, typeMismatch } from "../cni/json.ts";
import type { ResultRoute } from "../cni/result.ts";
import { allowsOneAddressPerFamily } from "../cni/version.ts";
import type { Address } from "./address.ts";
import { type Exclusions, makeExclusions } from "./exclusions.ts";
import { parseIPField, parseIPWithOptionalPrefix } from "./fields.ts";
import { addressRangeOf, parsePrefix } from "./prefix.ts";
import { rangeIn, rangeSetsIn } from "./range-fields.ts";
import { makeRangeSets, type RangeSet, type RangeSetSpec } from "./range-set.ts";
import { type FileReader, rangeSetsInFile } from "./ranges-file.ts";
import { parseRoute } from "./route.ts";

export const DEFAULT_DATA_DIR = "/var/lib/cni/networks";

export const DEFAULT_LOCK_TIMEOUT_SECONDS = 30;

/** The length at which the history is turned over, in bytes, unless `history.maxBytes` says otherwise. */
export const DEFAULT_HISTORY_BYTES = 4 * 1024 * 1024;

/** The bounds of `history.maxBytes`. */
const LEAST_HISTORY_BYTES = 4096;
const MOST_HISTORY_BYTES = 64 * 1024 * 1024;

/** A day. */
const DEFAULT_STICKY_SECONDS = 86_400;

/** Where the reservations of a network are, which is all that DEL and GC need. */
export interface StoreConfig {
  readonly network: NetworkName;
  readonly dataDir: string;
  readonly lockTimeoutSeconds: number;
  /** The length at which the history is turned over, in bytes; `undefined` where none is kept. */
  readonly historyBytes: number | undefined;
  readonly reuse: Reuse;
}

/** How addresses that were released are used again. */
export interface Reuse {
  /** How long a released address is avoided, in seconds (`reuseDelaySeconds`); 0 for no time. */
  readonly delaySeconds: number;
  /** How long a pod's address is kept for it (`stickySeconds`); `undefined` unless `sticky` is `"pod"`. */
  readonly stickySeconds: number | undefined;
}

/** Everything that ADD and CHECK need. */
export interface IpamConfig extends StoreConfig {
  readonly rangeSets: readonly RangeSet[];
  readonly exclusions: Exclusions;
  /** The addresses that the runtime requests, each once, in the order of the request. */
  readonly requested: readonly Address[];
  readonly routes: readonly ResultRoute[];
  /** Path of a `resolv.conf`; empty where none is configured. */
  readonly resolvConf: string;
  /** Whether a repeated ADD gets the addresses that the attachment holds (`repeatedAdd` is `"same"`). */
  readonly repeatsAnswer: boolean;
  /** Whether reservations from before this boot give way where a range set is otherwise full. */
  readonly reclaimsAfterReboot: boolean;
}

/**
 * Reads and checks the whole configuration; errors have the reference's words and order.
 *
 * @param args the value of `CNI_ARGS`
 * @param files reads `rangesFile`, where it is configured
 * @throws CniError 999 with the path in its details; RangesFileError
 */
export function loadConfig(
  network: NetworkConfiguration,
  args: string,
  files: FileReader,
): IpamConfig {
  const { document, versionText } = network;
  const ipam = member(document, "ipam");
  const settings = ipam === undefined ? undefined : readIpam(ipam);
  const runtimeConfig = member(document, "runtimeConfig");
  const runtimeIPs = requestedIn(runtimeConfig && member(runtimeConfig, "ips"));
  const runtimeRanges = rangeSetsIn(runtimeConfig && member(runtimeConfig, "ipRanges"));
  const conventional = member(document, "args");
  const cniArgs = conventional && member(conventional, "cni");
  const argumentIPs = requestedIn(cniArgs && member(cniArgs, "ips"));
  if (settings === undefined) throw missingIpam();

  const requested = [...requestedInArguments(args)];
  for (const at of [...argumentIPs, ...runtimeIPs]) requested.push(requestedAddress(at));

  const { rangesFile } = settings;
  const rangesOfNode = rangesFile === "" ? [] : rangeSetsInFile(files, rangesFile, network.name);
  return {
    ...storeConfig(network.name, settings),
    rangeSets: makeRangeSets(
      [...runtimeRanges, ...settings.rangeSets, ...rangesOfNode],
      allowsOneAddressPerFamily(network.version) ? { versionText } : undefined,
    ),
    exclusions: settings.exclusions,
    requested: distinct(requested),
    routes: settings.routes,
    resolvConf: settings.resolvConf,
    repeatsAnswer: settings.repeatsAnswer,
    reclaimsAfterReboot: settings.reclaimsAfterReboot,
  };
}

/**
 * Reads only what a release needs: a runtime may send a configuration without its ranges, and an address must not leak
 * because of that. An invalid `lockTimeoutSeconds` or `history` counts as absent.
 *
 * @throws CniError 999 where `ipam` is not an object or `ipam.dataDir` not a string
 */
export function loadStoreConfig({ name, document }: NetworkConfiguration): StoreConfig {
  const ipam = member(document, "ipam");
  if (ipam === undefined) throw missingIpam();
  const dataDir = text(member(ipam, "dataDir"), "a directory");
  const isSticky = member(ipam, "sticky")?.value === "pod";
  const history = member(ipam, "history");
  return storeConfig(name, {
    dataDir,
    lockTimeoutSeconds: secondsIfValid(member(ipam, "lockTimeoutSeconds")),
    reuseDelaySeconds: secondsIfValid(member(ipam, "reuseDelaySeconds")),
    isSticky,
    historyBytes: history && historyBytesIfValid(history),
    stickySeconds: isSticky ? secondsIfValid(member(ipam, "stickySeconds")) : undefined,
  });
}

function secondsIfValid(at: Located | undefined): number | undefined {
  return at !== undefined && isSeconds(at.value) ? at.value : undefined;
}

/**
 * Whether the plugin runs in the chain after a main plugin, only to receive GC and STATUS.
 *
 * @throws CniError 999 where `gcOnly` is neither true nor false
 */
export function isGcOnly({ document }: NetworkConfiguration): boolean {
  const at = member(document, "gcOnly");
  if (at !== undefined && typeof at.value !== "boolean") throw typeMismatch(at, "true or false");
  return at?.value === true;
}

/** Whether STATUS fails while a range set is exhausted (`ipam.exhaustedStatus` is `"unavailable"`). */
export function isUnavailableWhenExhausted({ document }: NetworkConfiguration): boolean {
  const ipam = member(document, "ipam");
  return ipam !== undefined && exhaustedStatus(ipam) === "unavailable";
}

/** Whether the configuration has or names any range; ranges that the runtime provides are not sent with STATUS and GC. */
export function hasRanges({ document }: NetworkConfiguration): boolean {
  const ipam = member(document, "ipam");
  if (ipam === undefined) return false;
  return (
    member(ipam, "subnet") !== undefined ||
    elements(member(ipam, "ranges")).length > 0 ||
    rangesFileIn(ipam) !== ""
  );
}

/** What a release needs, as configured. */
interface StoreSettings {
  readonly dataDir: string;
  readonly lockTimeoutSeconds: number | undefined;
  readonly reuseDelaySeconds: number | undefined;
  readonly isSticky: boolean;
  readonly stickySeconds: number | undefined;
  readonly historyBytes: number | undefined;
}

interface IpamSettings extends StoreSettings {
  readonly rangeSets: readonly RangeSetSpec[];
  readonly exclusions: Exclusions;
  readonly routes: readonly ResultRoute[];
  readonly resolvConf: string;
  readonly rangesFile: string;
  readonly repeatsAnswer: boolean;
  readonly reclaimsAfterReboot: boolean;
}

function readIpam(ipam: Located): IpamSettings {
  text(member(ipam, "type"));
  text(member(ipam, "name"));
  exhaustedStatus(ipam);
  const legacy = rangeIn(ipam);
  const ranges = rangeSetsIn(member(ipam, "ranges"));
  return {
    dataDir: text(member(ipam, "dataDir"), "a directory"),
    lockTimeoutSeconds: seconds(member(ipam, "lockTimeoutSeconds")),
    reuseDelaySeconds: seconds(member(ipam, "reuseDelaySeconds")),
    isSticky: choice(ipam, "sticky", "none", "pod") === "pod",
    stickySeconds: seconds(member(ipam, "stickySeconds")),
    rangeSets:
      legacy.subnet === undefined ? ranges : [{ path: "ipam", ranges: [legacy] }, ...ranges],
    exclusions: makeExclusions(elements(member(ipam, "exclude")).map(excludedRange)),
    routes: elements(member(ipam, "routes")).map(parseRoute),
    resolvConf: text(member(ipam, "resolvConf"), "the path of a file"),
    rangesFile: rangesFileIn(ipam),
    repeatsAnswer: choice(ipam, "repeatedAdd", "error", "same") === "same",
    historyBytes: historyBytes(member(ipam, "history")),
    reclaimsAfterReboot: reclaimsAfterReboot(ipam),
  };
}

function reclaimsAfterReboot(ipam: Located): boolean {
  const at = member(ipam, "reclaimAfterReboot");
  if (at !== undefined && typeof at.value !== "boolean") throw typeMismatch(at, "true or false");
  return at?.value !== false;
}

/** Relative to the working directory of a runtime it would be another file for each of them. */
function rangesFileIn(ipam: Located): string {
  const at = member(ipam, "rangesFile");
  const path = text(at, "the path of a file");
  if (path !== "" && !path.startsWith("/")) {
    throw internalError(`invalid rangesFile: ${path}`, `expected an absolute path at ${at?.path}`);
  }
  return path;
}

function excludedRange(at: Located): { first: Address; last: Address } {
  const written = text(at, 'an address or a network such as "10.1.2.0/28"');
  if (written.includes("/")) {
    const prefix = parsePrefix(written);
    if (prefix !== undefined && !prefix.mapped) return addressRangeOf(prefix);
  }
  const address = parseIPField(at);
  if (address === undefined) {
    throw internalError(
      `invalid IP address: ${written}`,
      `expected an address or a network at ${at.path}`,
    );
  }
  return { first: address, last: address };
}

function exhaustedStatus(ipam: Located): string {
  return choice(ipam, "exhaustedStatus", "ready", "unavailable");
}

/** A member that is one of two words. */
function choice(ipam: Located, name: string, byDefault: string, other: string): string {
  const at = member(ipam, name);
  const value = at === undefined ? byDefault : text(at);
  if (value !== byDefault && value !== other) {
    throw internalError(
      `invalid ${name}: ${value}`,
      `expected "${byDefault}" (the default) or "${other}" at ipam.${name}`,
    );
  }
  return value;
}

function seconds(at: Located | undefined): number | undefined {
  if (at === undefined) return undefined;
  if (!isSeconds(at.value)) throw typeMismatch(at, "a number of seconds, 0 or more");
  return at.value;
}

function isSeconds(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}

function historyBytes(at: Located | undefined): number | undefined {
  if (at === undefined || at.value === false) return undefined;
  if (at.value === true) return DEFAULT_HISTORY_BYTES;
  if (!isObject(at.value)) throw typeMismatch(at, 'true, false or {"maxBytes": number}');
  const limit = member(at, "maxBytes");
  if (limit === undefined) return DEFAULT_HISTORY_BYTES;
  const { value } = limit;
  const isWithin =
    Number.isInteger(value) &&
    Number(value) >= LEAST_HISTORY_BYTES &&
    Number(value) <= MOST_HISTORY_BYTES;
  if (isWithin) return Number(value);
  throw typeMismatch(limit, `a whole number from ${LEAST_HISTORY_BYTES} to ${MOST_HISTORY_BYTES}`);
}

function historyBytesIfValid(at: Located): number | undefined {
  try {
    return historyBytes(at);
  } catch (error) {
    if (error instanceof CniError) return undefined;
    throw error;
  }
}

/** The entries of a list of requested addresses, parsed before anything else is checked. */
function requestedIn(at: Located | undefined): readonly RequestedAddress[] {
  return elements(at).map((element) => {
    const written = element.value === null ? "" : text(element, "an IP address");
    return {
      path: element.path,
      address: written === "" ? undefined : parseIPWithOptionalPrefix(written, element.path),
    };
  });
}

interface RequestedAddress {
  readonly path: string;
  readonly address: Address | undefined;
}

function requestedAddress({ address, path }: RequestedAddress): Address {
  if (address !== undefined) return address;
  throw internalError(
    "cannot understand ip: IP <nil> not v4 nor v6",
    `expected an IP address at ${path}`,
  );
}

function requestedInArguments(args: string): readonly Address[] {
  let requested: readonly Address[] = [];
  readArguments(args, {
    IP: (value) => {
      requested = value === "" ? [] : [parseIPWithOptionalPrefix(value, "CNI_ARGS IP")];
    },
  });
  return requested;
}

function distinct(addresses: readonly Address[]): readonly Address[] {
  // Compared by number, since formatting them would cost much more.
  const byNumber = addresses.map(
    (address) => [`${address.family} ${address.value}`, address] as const,
  );
  return [...new Map(byNumber).values()];
}

function storeConfig(network: NetworkName, settings: StoreSettings): StoreConfig {
  const { dataDir, stickySeconds = DEFAULT_STICKY_SECONDS } = settings;
  return {
    network,
    dataDir: dataDir === "" ? DEFAULT_DATA_DIR : dataDir,
    lockTimeoutSeconds: settings.lockTimeoutSeconds ?? DEFAULT_LOCK_TIMEOUT_SECONDS,
    reuse: {
      delaySeconds: settings.reuseDelaySeconds ?? 0,
      stickySeconds: settings.isSticky ? stickySeconds : undefined,
    },
    historyBytes: settings.historyBytes,
  };
}

function missingIpam(): Error {
  return internalError(
    "IPAM config missing 'ipam' key",
    'expected an object such as {"type": "host-local", "subnet": "10.1.2.0/24"} at ipam',
  );
}
