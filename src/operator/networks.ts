/** Which networks there are: those that configurations name, and those that have a directory. */

import { isIdentifier } from "../cni/attachment.ts";
import { configurationOf, type NetworkName } from "../cni/call.ts";
import { CniError } from "../cni/error.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../cni/json.ts";
import {
  DEFAULT_DATA_DIR,
  DEFAULT_LOCK_TIMEOUT_SECONDS,
  hasRanges,
  loadConfig,
  loadStoreConfig,
} from "../ipam/config.ts";
import type { Exclusions } from "../ipam/exclusions.ts";
import { formatRangeSet, type RangeSet } from "../ipam/range-set.ts";
import { join, type Location, locate } from "../store/location.ts";
import { isSystemError, type System } from "../system/system.ts";
import { CannotLook, type Context } from "./command.ts";
import { confDirOf } from "./common-options.ts";
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

/** A configuration that could not be understood. */
export interface BadConfiguration {
  readonly source: string;
  readonly problem: string;
}

/** What was found. */
export interface Networks {
  /** By name, then by directory. */
  readonly found: readonly FoundNetwork[];
  readonly bad: readonly BadConfiguration[];
}

/** No configuration file is larger, in bytes. */
const LARGEST_FILE = 16 * 1024 * 1024;

/** As configurations name this plugin. */
const IPAM_TYPE = "host-local";

const SUFFIXES = [".conf", ".conflist", ".json"];

/**
 * Finds all networks.
 *
 * @param name the one that is asked for; `undefined` for all
 * @throws CannotLook where that one is neither configured nor has a directory
 */
export function findNetworks(context: Context, name: string | undefined): Networks {
  const { system } = context;
  const dataDir = context.option("--data-dir");
  const found: FoundNetwork[] = [];
  const bad: BadConfiguration[] = [];
  const confDir = confDirOf(context);
  for (const file of configurationFiles(system, confDir)) {
    const source = join(confDir, file);
    attempt(source, bad, () => {
      for (const document of configurationsIn(parse(system, source))) {
        attempt(source, bad, () => {
          const network = fromConfiguration(document, source, dataDir);
          if (!found.some((one) => isAlike(one, network))) found.push(network);
        });
      }
    });
  }
  const configured = new Set(found.map(({ location }) => location.directory));
  const dataDirs = dataDir === undefined ? [DEFAULT_DATA_DIR, ...dataDirsOf(found)] : [dataDir];
  for (const location of [...new Set(dataDirs)].flatMap((one) => directoriesIn(system, one))) {
    if (!configured.has(location.directory)) found.push(unconfigured(location));
  }
  found.sort(byName);
  if (name === undefined) return { found, bad };
  const wanted = found.filter(({ location }) => location.network === name);
  if (wanted.length > 0) return { found: wanted, bad };
  const known = found.map(({ location }) => location.network).join(", ") || "none";
  throw new CannotLook(`there is no network ${JSON.stringify(name)}; found: ${known}`);
}

/** The files that libcni would read, in its order. A directory that is missing holds none. */
function configurationFiles(system: System, confDir: string): readonly string[] {
  try {
    const names = system.list(confDir);
    return names.filter((name) => SUFFIXES.some((suffix) => name.endsWith(suffix))).toSorted();
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}

/** One configuration that cannot be understood does not hide the others. */
function attempt(source: string, bad: BadConfiguration[], read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof CniError || isSystemError(error))) {
      throw error;
    }
    bad.push({ source, problem: error.message });
  }
}

function parse(system: System, path: string): Json {
  return parseJson(system.readFile(path, LARGEST_FILE));
}

/**
 * The plugin configurations of a file that use this IPAM, wherever in it they stand: a list's plugins, a delegate of
 * flannel's or multus'. Each with the name of its network, its own or that of what it stands in.
 */
function configurationsIn(value: Json, name = "", version = ""): readonly JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((one) => configurationsIn(one, name, version));
  if (!isObject(value)) return [];
  const ownName = textOf(member(value, "name")) || name;
  const ownVersion = textOf(member(value, "cniVersion")) || version;
  const isOurs = textOf(member(member(value, "ipam"), "type")) === IPAM_TYPE;
  const own = isOurs ? [{ ...value, name: ownName, cniVersion: ownVersion }] : [];
  const inner = Object.values(value).flatMap((one) => configurationsIn(one, ownName, ownVersion));
  return [...own, ...inner];
}

/** @throws CniError where the configuration cannot be used */
function fromConfiguration(
  document: JsonObject,
  source: string,
  dataDir: string | undefined,
): FoundNetwork {
  const configuration = configurationOf(document);
  const store = loadStoreConfig(configuration);
  const ipam = hasRanges(configuration) ? loadConfig(configuration, "") : undefined;
  return {
    location: locate(dataDir ?? store.dataDir, store.network),
    source,
    rangeSets: ipam?.rangeSets ?? [],
    exclusions: ipam?.exclusions ?? [],
    lockTimeoutSeconds: store.lockTimeoutSeconds,
    mayGetRanges: member(member(document, "capabilities"), "ipRanges") === true,
    bridge: bridgeIn(document),
  };
}

/** The bridge with the gateway's address; without `isGateway` a bridge has none. */
function bridgeIn(document: JsonObject): Bridge | undefined {
  const isSet = (key: string): boolean => member(document, key) === true;
  if (textOf(member(document, "type")) !== "bridge") return undefined;
  if (!isSet("isGateway") && !isSet("isDefaultGateway")) return undefined;
  return { name: textOf(member(document, "bridge")) || "cni0", isForced: isSet("forceAddress") };
}

/** The same network may stand in a list twice, once for its main plugin and once, with `gcOnly`, behind it. */
function isAlike(a: FoundNetwork, b: FoundNetwork): boolean {
  return (
    a.source === b.source &&
    a.location.directory === b.location.directory &&
    a.rangeSets.map(formatRangeSet).join(" ") === b.rangeSets.map(formatRangeSet).join(" ")
  );
}

function dataDirsOf(networks: readonly FoundNetwork[]): readonly string[] {
  return networks.map(({ location }) => location.dataDir);
}

/** The networks that have a directory; a data directory that is missing has none. */
function directoriesIn(system: System, dataDir: string): readonly Location[] {
  const { dataDir: root } = locate(dataDir, "." as NetworkName);
  try {
    return system
      .list(root)
      .filter((name) => isIdentifier(name) && system.status(join(root, name)).kind === "directory")
      .map((name) => locate(root, name as NetworkName));
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
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

function byName(a: FoundNetwork, b: FoundNetwork): number {
  const left = `${a.location.network}/${a.location.directory}`;
  return left < `${b.location.network}/${b.location.directory}` ? -1 : 1;
}
