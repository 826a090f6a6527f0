/** Which networks there are: those that configurations name, and those that have a directory. */

import { isIdentifier } from "../../cni/attachment.ts";
import { configurationOf, type NetworkName } from "../../cni/call.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import type { JsonObject } from "../../cni/json.ts";
import { parseAddress } from "../../ipam/address.ts";
import {
  DEFAULT_DATA_DIR,
  DEFAULT_LOCK_TIMEOUT_SECONDS,
  hasRanges,
  loadConfig,
  loadStoreConfig,
} from "../../ipam/config.ts";
import type { Exclusions } from "../../ipam/exclusions.ts";
import { formatRangeSet, type RangeSet } from "../../ipam/range-set.ts";
import { cleanPath, join, type Location, locate } from "../../store/location.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { CommandError, type Context } from "../command/command.ts";
import { confDirOf } from "../command/common-options.ts";
import { type BadConfiguration, type Configuration, readConfigurations } from "./configurations.ts";
import { member, textOf } from "./json-values.ts";

/** A network, from one configuration or from its directory alone. */
export interface FoundNetwork {
  readonly location: Location;
  /** The file that configures it; `undefined` where only its directory was found. */
  readonly source: string | undefined;
  /** None where they are brought by the runtime, cannot be read, or nothing configures the network. */
  readonly rangeSets: readonly RangeSet[];
  readonly exclusions: Exclusions;
  readonly lockTimeoutSeconds: number;
  /** Whether the runtime may bring further ranges, before the configured ones (the capability `ipRanges`). */
  readonly mayGetRanges: boolean;
  /** The bridge that is to have the gateways' addresses; `undefined` where none is. */
  readonly bridge: Bridge | undefined;
}

/** The bridge of a network, as the plugin `bridge` makes it. */
export interface Bridge {
  readonly name: string;
  /** Whether the plugin gives it the right address where it has another one. */
  readonly isForced: boolean;
}

/** What was found. */
export interface Networks {
  /**
   * By name, then by directory. A network is there once for each configuration of it that brings other ranges, and
   * always at least once.
   */
  readonly found: readonly FoundNetwork[];
  readonly bad: readonly BadConfiguration[];
}

/** What a network's directory holds, besides its addresses. */
const OTHER_TRACES = /^(?:lock|last_reserved_ip\..*)$/;

/**
 * Finds all networks: in the configurations, and by their directories in the data directories.
 *
 * @param name the one that is asked for; `undefined` for all
 * @throws CannotLook where that one is neither configured nor has a directory
 */
export function findNetworks(context: Context, name: string | undefined): Networks {
  const { system } = context;
  const dataDir = context.option("--data-dir");
  const bad: BadConfiguration[] = [];
  const found: FoundNetwork[] = [];
  for (const configuration of configurationsFor(context, bad)) {
    const network = fromConfiguration(configuration, dataDir, bad);
    if (network !== undefined) found.push(network);
  }
  const kept = found.filter(
    (network, at) => !found.some((other, i) => i !== at && hides(other, i, network, at)),
  );
  const dataDirs =
    dataDir === undefined
      ? [DEFAULT_DATA_DIR, ...found.map(({ location }) => location.dataDir)]
      : [dataDir];
  const configured = new Set(found.map(({ location }) => location.directory));
  for (const root of new Set(dataDirs.map(cleanPath))) {
    for (const location of directoriesIn(system, root)) {
      if (configured.has(location.directory)) continue;
      if (location.network === name || hasTraces(system, location))
        kept.push(unconfigured(location));
    }
  }
  kept.sort(byName);
  if (name === undefined) return { found: kept, bad };
  const wanted = kept.filter(({ location }) => location.network === name);
  if (wanted.length > 0) return { found: wanted, bad };
  throw noSuchNetwork(name, kept, bad);
}

/** Networks by their directories: one that has several configurations is there once, with the ranges of all. */
export function distinctDirectories(networks: readonly FoundNetwork[]): readonly FoundNetwork[] {
  const distinct = new Map<string, FoundNetwork>();
  for (const network of networks) {
    const { directory } = network.location;
    const other = distinct.get(directory);
    const rangeSets = [...(other?.rangeSets ?? []), ...network.rangeSets];
    distinct.set(directory, { ...(other ?? network), rangeSets });
  }
  return [...distinct.values()];
}

/** Says which configurations could not be understood. */
export function logProblems({ log }: Context, bad: readonly BadConfiguration[]): void {
  for (const { source, problem } of bad) log(`host-local: ${source}: ${problem}\n`);
}

/** The configurations of the directory; without one there are none, unless somebody asked for it by name. */
function configurationsFor(context: Context, bad: BadConfiguration[]): readonly Configuration[] {
  const confDir = cleanPath(confDirOf(context));
  try {
    return readConfigurations(context.system, confDir, bad);
  } catch (error) {
    if (isSystemError(error, "ENOENT") && context.option("--conf-dir") === undefined) return [];
    throw error;
  }
}

/** @returns `undefined` where not even the place of its reservations is known */
function fromConfiguration(
  { source, document }: Configuration,
  dataDir: string | undefined,
  bad: BadConfiguration[],
): FoundNetwork | undefined {
  let network: FoundNetwork | undefined;
  try {
    const configuration = configurationOf(document);
    const store = loadStoreConfig(configuration);
    const location = locate(dataDir ?? store.dataDir, store.network);
    const { lockTimeoutSeconds } = store;
    network = {
      location,
      source,
      rangeSets: [],
      exclusions: [],
      lockTimeoutSeconds,
      mayGetRanges: member(member(document, "capabilities"), "ipRanges") === true,
      bridge: bridgeIn(document),
    };
    if (!location.dataDir.startsWith("/") && dataDir === undefined) {
      const problem = `ipam.dataDir is relative (${location.dataDir}): the plugin counts it from where the runtime was started, this tool from here; say which with --data-dir`;
      bad.push({ source, problem });
    }
    if (!hasRanges(configuration)) return network;
    const { rangeSets, exclusions } = loadConfig(configuration, "");
    return { ...network, rangeSets, exclusions };
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    bad.push({ source, problem: messageWithDetails(error) });
    return network;
  }
}

/** The bridge with the gateway's address; without `isGateway` a bridge has none. */
function bridgeIn(document: JsonObject): Bridge | undefined {
  const isSet = (key: string): boolean => member(document, key) === true;
  if (textOf(member(document, "type")) !== "bridge") return undefined;
  if (!isSet("isGateway") && !isSet("isDefaultGateway")) return undefined;
  return { name: textOf(member(document, "bridge")) || "cni0", isForced: isSet("forceAddress") };
}

/**
 * Whether one configuration makes another of the same network needless: it says the same, or the other brings no ranges,
 * as an entry for GC alone.
 */
function hides(one: FoundNetwork, at: number, other: FoundNetwork, otherAt: number): boolean {
  if (one.location.directory !== other.location.directory) return false;
  if (other.rangeSets.length === 0) return one.rangeSets.length > 0 || at < otherAt;
  return at < otherAt && rangesOf(one) === rangesOf(other);
}

function rangesOf({ rangeSets }: FoundNetwork): string {
  return rangeSets.map(formatRangeSet).join(" ");
}

function noSuchNetwork(
  name: string,
  found: readonly FoundNetwork[],
  bad: readonly BadConfiguration[],
): CommandError {
  const known = new Set(found.map(({ location }) => location.network));
  const problems = bad.map(({ source, problem }) => `\nhost-local: ${source}: ${problem}`).join("");
  return new CommandError(
    `there is no network ${JSON.stringify(name)}; found: ${[...known].join(", ") || "none"}${problems}`,
  );
}

/** The directories that may be those of networks; a data directory that is missing has none. */
function directoriesIn(system: System, dataDir: string): readonly Location[] {
  try {
    return system
      .list(dataDir)
      .filter((name) => isIdentifier(name) && isDirectory(system, join(dataDir, name)))
      .map((name) => locate(dataDir, name as NetworkName));
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}

function isDirectory(system: System, path: string): boolean {
  try {
    return system.status(path).kind === "directory";
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** Whether a plugin has worked in this directory: other directories may lie beside those of networks. */
function hasTraces(system: System, { directory }: Location): boolean {
  try {
    const names = system.list(directory);
    return names.some((name) => OTHER_TRACES.test(name) || parseAddress(name) !== undefined);
  } catch (error) {
    // What cannot be read may be one; whoever looks into it is told why.
    if (isSystemError(error)) return true;
    throw error;
  }
}

function unconfigured(location: Location): FoundNetwork {
  return {
    location,
    source: undefined,
    rangeSets: [],
    exclusions: [],
    lockTimeoutSeconds: DEFAULT_LOCK_TIMEOUT_SECONDS,
    mayGetRanges: false,
    bridge: undefined,
  };
}

/** Configurations of one network stay in the order of their files, in which a runtime reads them. */
function byName(a: FoundNetwork, b: FoundNetwork): number {
  const [left, right] = [keyOf(a), keyOf(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function keyOf({ location }: FoundNetwork): string {
  return `${location.network}/${location.directory}`;
}
