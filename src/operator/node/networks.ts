/** The networks on this node: those that are configured, and those that have a directory. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import { configurationOf, type NetworkName } from "../../cni/call.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import type { JsonObject } from "../../cni/json.ts";
import { loadConfig } from "../../configuration/load-config.ts";
import { parseAddress } from "../../ipam/address.ts";
import {
  DEFAULT_DATA_DIR,
  DEFAULT_LOCK_TIMEOUT_SECONDS,
  hasRanges,
  isGcOnly,
  loadStoreConfig,
} from "../../ipam/config.ts";
import type { Excluded } from "../../ipam/exclusions.ts";
import type { Partition } from "../../ipam/partition.ts";
import { formatRangeSet, type RangeSet } from "../../ipam/range-set.ts";
import { type NetworkFiles, openNetwork } from "../../store/files/network-files.ts";
import { cleanPath, join } from "../../store/files/paths.ts";
import { listReservations } from "../../store/reservations/reservation-file.ts";
import { delaySecondsOf } from "../../store/reuse/delay.ts";
import { attempt, type System } from "../../system/system.ts";
import {
  type CachedConfiguration,
  type ConfigurationCache,
  type ConfigurationFile,
  type ConfigurationProblem,
  shadowedFiles,
} from "./configuration-files.ts";
import {
  type Configuration,
  configurationsIn,
  readAllFiles,
  requireDirectory,
} from "./configurations.ts";
import { BUILDKIT_PLUGIN, PLUGIN, pluginNames } from "./plugin-directories.ts";
import { asksForPodCidr, type Completed, withPodCidr } from "./pod-cidr.ts";

/** A network, found by a configuration or only by its directory. */
export interface FoundNetwork extends Excluded {
  readonly files: NetworkFiles;
  /** The file that configures it, or the cache's directory that has its configuration; `undefined` if only its directory was found. */
  readonly source: string | undefined;
  /** Empty if the runtime supplies them, they are invalid, or the network is not configured. */
  readonly rangeSets: readonly RangeSet[];
  /** Where the node is in the cluster, where it has only a part of the ranges. */
  readonly partition: Partition | undefined;
  readonly lockTimeoutSeconds: number;
  /** The length at which its history is rotated; `undefined` if it is not configured to keep one. */
  readonly historyBytes: number | undefined;
  /** Whether reservations from before this boot are reclaimed, and so count as free. */
  readonly reclaims: boolean;
  /** How long a released address is avoided, in seconds. */
  readonly reuseDelaySeconds: number;
  /** Whether the runtime may supply ranges, before the configured ones (the `ipRanges` capability). */
  readonly acceptsRuntimeRanges: boolean;
  /** The file that a runtime uses in its place, since it configures the same network; `undefined` where there is none. */
  readonly shadowedBy: string | undefined;
  /** Whether STATUS fails while a range set is exhausted (`exhaustedStatus` is `"unavailable"`). */
  readonly failsWhenExhausted: boolean;
  /** Why some ranges are assumed, or left out since they are not known; `undefined` where they are all as configured. */
  readonly uncertainty: string | undefined;
  /** The bridge that has the gateways' addresses; `undefined` if there is none. */
  readonly bridge: Bridge | undefined;
}

/** The bridge of a network, as configured for the `bridge` plugin. */
export interface Bridge {
  readonly name: string;
  /** Whether the plugin replaces a different address (`forceAddress`). */
  readonly isForced: boolean;
}

/** The name of BuildKit's network. */
const BUILDKIT_NETWORK = "buildkit";

/** The directory of the state directories, in a data directory. */
const STATE_ROOT = ".host-local";

/** The networks that were found. */
export interface Networks {
  /**
   * By name, then by directory. A network appears once for each of its configurations that has different ranges, and at
   * least once.
   */
  readonly found: readonly FoundNetwork[];
  /** Those of other names than the one that was asked for. */
  readonly others: readonly FoundNetwork[];
  readonly problems: readonly ConfigurationProblem[];
  /** The files of the configuration directories, also those that use other plugins. */
  readonly files: readonly ConfigurationFile[];
}

/**
 * Finds all networks: in the configurations, in those that libcni's cache has of networks without a file, and by their
 * directories in the data directories.
 *
 * @param name only the network with this name; `undefined` for all
 * @param counts whether a network counts, too, of which only the state directory is left
 * @throws CommandError if it is neither configured nor has a directory, or if `--conf-dir` or `--data-dir` does not exist
 * @throws SystemError if a directory cannot be read
 */
export function findNetworks(
  context: Context,
  cache: ConfigurationCache,
  name: string | undefined,
  counts?: (files: NetworkFiles) => boolean,
): Networks {
  const { system } = context;
  const option = context.option("--data-dir");
  const dataDir = option === undefined ? undefined : requireDirectory(system, "--data-dir", option);
  const problems: ConfigurationProblem[] = [];
  const found: FoundNetwork[] = [];
  const files = readAllFiles(context, problems);
  const shadowed = shadowedFiles(files);
  for (const configuration of configurationsIn(system, files, problems)) {
    const network = fromConfiguration(system, cache, configuration, dataDir, problems);
    const shadowedBy = shadowed.get(configuration.file)?.source;
    if (network !== undefined) found.push({ ...network, shadowedBy });
  }
  found.push(...cachedNetworks(system, cache, dataDir, found));
  // STATUS is asked of every plugin of a list, also of one for GC alone.
  const failing = new Set(
    found.filter((one) => one.failsWhenExhausted).map(({ files }) => files.directory),
  );
  const shown = found
    .filter((network, at) => !found.some((other, i) => i !== at && hides(other, i, network, at)))
    .map((network) => ({ ...network, failsWhenExhausted: failing.has(network.files.directory) }));
  const dataDirs =
    dataDir === undefined
      ? [DEFAULT_DATA_DIR, ...found.map(({ files }) => files.dataDir)]
      : [dataDir];
  const configured = new Set(found.map(({ files }) => files.directory));
  for (const root of new Set(dataDirs.map(cleanPath))) {
    for (const one of directoriesIn(system, root)) {
      if (configured.has(one.directory)) continue;
      if (one.network === name || isUsed(system, one)) shown.push(unconfigured(one));
    }
    if (counts === undefined) continue;
    for (const one of directoriesIn(system, root, join(root, STATE_ROOT))) {
      const isKnown = configured.has(one.directory) || isDirectory(system, one.directory);
      if (!isKnown && counts(one)) shown.push(unconfigured(one));
    }
  }
  shown.sort(byName);
  if (name === undefined) return { found: shown, others: [], problems, files };
  const isNamed = ({ files }: FoundNetwork): boolean => files.network === name;
  const named = shown.filter(isNamed);
  if (named.length === 0) throw unknownNetwork(name, shown, problems);
  return { found: named, others: shown.filter((one) => !isNamed(one)), problems, files };
}

/** A configuration with the podCIDR of this node, where it asks for it. */
function completed(
  system: System,
  cache: ConfigurationCache,
  document: JsonObject,
  files: NetworkFiles,
): Completed {
  if (!asksForPodCidr(document)) return { document, uncertainty: undefined };
  const addresses = attempt(() => listReservations(files), []).map(({ address }) => address);
  const cached = cache.configurationsOf(files.network);
  return withPodCidr(system, document, {
    addresses,
    results: cached.flatMap((one) => one.addresses),
  });
}

/**
 * The networks of which a cache alone has the configuration, and no file: those that multus attaches, from the API server, and
 * that of BuildKit, from its memory.
 */
function cachedNetworks(
  system: System,
  cache: ConfigurationCache,
  dataDir: string | undefined,
  found: readonly FoundNetwork[],
): readonly FoundNetwork[] {
  const ofMultus = cache.multusConfigurations.map(cachedFile);
  const hasBuildkit = isDirectory(system, join(dataDir ?? DEFAULT_DATA_DIR, BUILDKIT_NETWORK));
  const ofBuildkit = hasBuildkit ? cache.configurationsOf(BUILDKIT_NETWORK).map(cachedFile) : [];
  const configurations = [
    ...configurationsIn(system, ofMultus, [], pluginNames(system)),
    ...configurationsIn(system, ofBuildkit, [], new Set([BUILDKIT_PLUGIN])),
  ];
  const configured = new Set(found.map(({ files }) => files.directory));
  return configurations.flatMap((configuration) => {
    const network = fromConfiguration(system, cache, configuration, dataDir, []);
    return network === undefined || configured.has(network.files.directory) ? [] : [network];
  });
}

function cachedFile({ directory, document }: CachedConfiguration): ConfigurationFile {
  const kind = "cached";
  return { source: directory, directory, document, appended: [], refusal: undefined, kind };
}

/** @returns `undefined` if not even its directory is known */
function fromConfiguration(
  system: System,
  cache: ConfigurationCache,
  { source, document }: Configuration,
  dataDir: string | undefined,
  problems: ConfigurationProblem[],
): FoundNetwork | undefined {
  let network: FoundNetwork | undefined;
  try {
    const configuration = configurationOf(document);
    const store = loadStoreConfig(configuration);
    const files = openNetwork(system, dataDir ?? store.dataDir, store.network);
    network = {
      ...unconfigured(files),
      source,
      lockTimeoutSeconds: store.lockTimeoutSeconds,
      historyBytes: store.historyBytes,
      reuseDelaySeconds: delaySecondsOf(system, store.reuse.delay),
      acceptsRuntimeRanges: exactMember(exactMember(document, "capabilities"), "ipRanges") === true,
      bridge: bridgeIn(document),
    };
    if (!files.dataDir.startsWith("/") && dataDir === undefined) {
      const problem = `ipam.dataDir is relative (${files.dataDir}): the plugin resolves it in the runtime's working directory, this command in its own; set --data-dir`;
      problems.push({ source, problem });
    }
    if (!hasRanges(configuration)) {
      const isExplained = problems.some((problem) => problem.source === source);
      if (needsRanges(document, network) && !isGcOnly(configuration) && !isExplained) {
        problems.push({ source, problem: NO_RANGES });
      }
      return network;
    }
    const { document: complete, uncertainty } = completed(system, cache, document, files);
    network = { ...network, uncertainty };
    const whole = configurationOf(complete);
    if (!hasRanges(whole)) return network;
    const config = loadConfig(whole, "", system);
    const { rangeSets, partition, exclusions, reserved, reclaims, failsWhenExhausted } = config;
    const counted = { rangeSets, partition, exclusions, reserved, reclaims };
    return { ...network, ...counted, failsWhenExhausted };
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    problems.push({ source, problem: messageWithDetails(error) });
    return network;
  }
}

const NO_RANGES =
  "no IP ranges specified, so that every ADD fails; expected ipam.subnet or ipam.ranges, or the capability ipRanges where the runtime sends them";

/** The main plugins of the CNI project pass `ipam` on as it is; another one, such as Antrea's, may add the ranges. */
const PASSING_ON: readonly string[] = [
  ...["bridge", "dummy", "host-device", "ipvlan", "macvlan", "ptp", "tap", "vlan", "vrf"],
  PLUGIN,
];

function needsRanges(
  document: JsonObject,
  { acceptsRuntimeRanges }: Pick<FoundNetwork, "acceptsRuntimeRanges">,
): boolean {
  return PASSING_ON.includes(textOf(exactMember(document, "type"))) && !acceptsRuntimeRanges;
}

/** The plugin, and the copy that BuildKit brings. */
const BRIDGE_PLUGINS: readonly string[] = ["bridge", "buildkit-cni-bridge"];

/** The bridge with the gateway's address; only one with `isGateway` or `isDefaultGateway` has it. */
function bridgeIn(document: JsonObject): Bridge | undefined {
  const isSet = (key: string): boolean => exactMember(document, key) === true;
  if (!BRIDGE_PLUGINS.includes(textOf(exactMember(document, "type")))) return undefined;
  if (!isSet("isGateway") && !isSet("isDefaultGateway")) return undefined;
  return {
    name: textOf(exactMember(document, "bridge")) || "cni0",
    isForced: isSet("forceAddress"),
  };
}

/**
 * Whether a configuration makes another one of the same network redundant: it has the same ranges, or the other one has
 * none, as an entry for GC alone.
 */
function hides(one: FoundNetwork, at: number, other: FoundNetwork, otherAt: number): boolean {
  if (one.files.directory !== other.files.directory) return false;
  // The one that is used counts.
  if (one.shadowedBy !== undefined && other.shadowedBy === undefined) return false;
  if (other.rangeSets.length === 0) return one.rangeSets.length > 0 || at < otherAt;
  return at < otherAt && formatRanges(one) === formatRanges(other);
}

function formatRanges({ rangeSets }: FoundNetwork): string {
  return rangeSets.map(formatRangeSet).join(" ");
}

function unknownNetwork(
  name: string,
  found: readonly FoundNetwork[],
  problems: readonly ConfigurationProblem[],
): CommandError {
  const known = new Set(found.map(({ files }) => files.network));
  return new CommandError(
    `unknown network ${JSON.stringify(name)}; known networks: ${[...known].join(", ") || "none"}`,
    problems.map(({ source, problem }) => `host-local: ${source}: ${problem}`),
  );
}

/**
 * The networks to which the directories may belong that are in a data directory, or in what is given in place of it; a
 * missing one has none.
 */
function directoriesIn(
  system: System,
  dataDir: string,
  place: string = dataDir,
): readonly NetworkFiles[] {
  return attempt(() => system.list(place), [], "ENOENT", "ENOTDIR")
    .filter((name) => isIdentifier(name) && isDirectory(system, join(place, name)))
    .map((name) => openNetwork(system, dataDir, name as NetworkName));
}

function isDirectory(system: System, path: string): boolean {
  return attempt(() => system.status(path).kind === "directory", false);
}

/**
 * Whether a plugin has used this directory: a data directory may contain unrelated ones. One that cannot be read may belong
 * to a network; reading its reservations reports the error.
 */
function isUsed(system: System, { directory }: NetworkFiles): boolean {
  const isOfPlugin = (name: string): boolean =>
    name === "lock" || name.startsWith("last_reserved_ip.") || parseAddress(name) !== undefined;
  return attempt(() => system.list(directory).some(isOfPlugin), true);
}

function unconfigured(files: NetworkFiles): FoundNetwork {
  return {
    files,
    source: undefined,
    rangeSets: [],
    partition: undefined,
    exclusions: [],
    reserved: [],
    lockTimeoutSeconds: DEFAULT_LOCK_TIMEOUT_SECONDS,
    historyBytes: undefined,
    reclaims: true,
    reuseDelaySeconds: 0,
    acceptsRuntimeRanges: false,
    shadowedBy: undefined,
    failsWhenExhausted: false,
    uncertainty: undefined,
    bridge: undefined,
  };
}

/** Configurations of one network stay in the order of their files, as a runtime reads them. */
function byName(a: FoundNetwork, b: FoundNetwork): number {
  const [left, right] = [keyOf(a), keyOf(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function keyOf({ files }: FoundNetwork): string {
  return `${files.network}/${files.directory}`;
}
