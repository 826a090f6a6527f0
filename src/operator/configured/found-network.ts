/** What is known of a network by its configuration. */

import { textOf } from "../../cli/command/json-values.ts";
import { configurationOf } from "../../cni/call.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import { type JsonObject, valueInAnyCase } from "../../cni/json.ts";
import { loadConfig, loadWithoutCall } from "../../configuration/load-config.ts";
import {
  DEFAULT_LOCK_TIMEOUT_SECONDS,
  hasRanges,
  type IpamConfig,
  isGcOnly,
  loadStoreConfig,
} from "../../ipam/config.ts";
import type { Excluded } from "../../ipam/exclusions.ts";
import type { RangeSet } from "../../ipam/range-set.ts";
import { type NetworkFiles, openNetwork } from "../../store/files/network-files.ts";
import { delaySecondsOf } from "../../store/reuse/delay.ts";
import type { System } from "../../system/system.ts";
import type { ConfigurationFile, ConfigurationProblem } from "./configuration-files.ts";
import type { Configuration } from "./configurations.ts";
import type { FileUse } from "./file-in-use.ts";
import { linkIn, vlanOn } from "./link.ts";
import { PLUGIN } from "./plugin-directories.ts";
import { UNKNOWN_POD_CIDR, withPodCidr } from "./pod-cidr.ts";

/** A network, found by a configuration or only by its directory. */
export interface FoundNetwork extends Excluded {
  readonly files: NetworkFiles;
  /** The file that configures it, or the cache's directory with its configuration; `undefined` if only its directory is known. */
  readonly source: string | undefined;
  /** Empty if the runtime supplies them, they are invalid, or the network is not configured. */
  readonly rangeSets: readonly RangeSet[];
  readonly lockTimeoutSeconds: number;
  /** The length at which its history is rotated; `undefined` if it is not configured to keep one. */
  readonly historyBytes: number | undefined;
  /** Whether reservations from before this boot are reclaimed, and so count as free. */
  readonly reclaims: boolean;
  /** How long a released address is avoided, in seconds. */
  readonly reuseDelaySeconds: number;
  /** Whether the runtime may supply ranges, before the configured ones (the `ipRanges` capability). */
  readonly acceptsRuntimeRanges: boolean;
  /** Who uses the file; `undefined` if only its directory is known. */
  readonly use: FileUse<ConfigurationFile> | undefined;
  /** Whether STATUS fails while a range set is exhausted (`exhaustedStatus` is `"unavailable"`). */
  readonly failsWhenExhausted: boolean;
  /** Why its ranges are not known; `undefined` where they are as configured. */
  readonly uncertainty: string | undefined;
  /** The bridge that has the gateways' addresses; `undefined` if there is none. */
  readonly bridge: Bridge | undefined;
  /** The interface that the `bridge` plugin takes as its bridge, with a gateway or not; `undefined` with other plugins. */
  readonly bridgeName: string | undefined;
  /** Whether the node itself reaches the pods by a route of its own: by a bridge that has the gateway, or by `ptp`. */
  readonly isRouted: boolean;
  /** The link that its pods are on; `undefined` where that is not known, see `linkIn`. */
  readonly link: string | undefined;
  /** What an ADD loads, but for what the runtime adds; `undefined` where it fails at that, or reserves nothing. */
  readonly config: IpamConfig | undefined;
}

/** The bridge of a network, as configured for the `bridge` plugin. */
export interface Bridge {
  /** The name of the interface with the gateways' addresses: the bridge, or its interface of a VLAN, such as `cni0.7`. */
  readonly name: string;
  /** Whether the plugin replaces a different address (`forceAddress`). */
  readonly isForced: boolean;
}

/**
 * The network that a configuration names.
 *
 * @param dataDir in place of the configured one
 * @param problems receives what is wrong with it
 * @returns `undefined` if not even its directory is known
 */
export function fromConfiguration(
  system: System,
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
      // The names of capabilities are no keys of Go's: the runtime gives what is named in its own letters.
      acceptsRuntimeRanges:
        valueInAnyCase(valueInAnyCase(document, "capabilities"), "ipRanges") === true,
      bridge: bridgeIn(document),
      bridgeName: bridgeNameIn(document),
      isRouted: isRouted(document),
      link: linkIn(document, bridgeNameIn(document)),
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
      return isGcOnly(configuration)
        ? network
        : { ...network, config: loadWithoutCall(configuration, system) };
    }
    const complete = withPodCidr(system, document);
    if (complete === undefined) return { ...network, uncertainty: UNKNOWN_POD_CIDR };
    const whole = configurationOf(complete);
    const config = loadConfig(whole, "", system);
    const { rangeSets, exclusions, reserved, reclaims, failsWhenExhausted } = config;
    const counted = { rangeSets, exclusions, reserved, reclaims };
    const reserving = isGcOnly(whole) ? undefined : config;
    return { ...network, ...counted, failsWhenExhausted, config: reserving };
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    problems.push({ source, problem: messageWithDetails(error) });
    return network;
  }
}

const NO_RANGES =
  "no IP ranges specified, so that every ADD fails; expected ipam.subnet or ipam.ranges, or the capability ipRanges where the runtime sends them";

/** The main plugins of the CNI project pass `ipam` on as it is; another one, such as Antrea's, may add the ranges. */
export const PASSING_ON: readonly string[] = [
  ...["bridge", "dummy", "host-device", "ipvlan", "macvlan", "ptp", "tap", "vlan", "vrf"],
  PLUGIN,
];

function needsRanges(
  document: JsonObject,
  { acceptsRuntimeRanges }: Pick<FoundNetwork, "acceptsRuntimeRanges">,
): boolean {
  return PASSING_ON.includes(textOf(valueInAnyCase(document, "type"))) && !acceptsRuntimeRanges;
}

/** The plugin, and the copy that BuildKit brings. */
const BRIDGE_PLUGINS: readonly string[] = ["bridge", "buildkit-cni-bridge"];

function bridgeNameIn(document: JsonObject): string | undefined {
  return BRIDGE_PLUGINS.includes(textOf(valueInAnyCase(document, "type")))
    ? textOf(valueInAnyCase(document, "bridge")) || "cni0"
    : undefined;
}

/** The bridge with the gateway's address; only one with `isGateway` or `isDefaultGateway` has it. */
export function bridgeIn(document: JsonObject): Bridge | undefined {
  const isSet = (key: string): boolean => valueInAnyCase(document, key) === true;
  const bridge = bridgeNameIn(document);
  if (bridge === undefined) return undefined;
  if (!isSet("isGateway") && !isSet("isDefaultGateway")) return undefined;
  return {
    name: vlanOn(bridge, valueInAnyCase(document, "vlan")),
    isForced: isSet("forceAddress"),
  };
}

/**
 * Whether the node has a route to the pods. With macvlan and ipvlan they are in the network of the parent interface: that this
 * has the same subnet is as it should be.
 */
function isRouted(document: JsonObject): boolean {
  return bridgeIn(document) !== undefined || textOf(valueInAnyCase(document, "type")) === "ptp";
}

/** A network of which nothing is known but its directory. */
export function unconfigured(files: NetworkFiles): FoundNetwork {
  return {
    files,
    source: undefined,
    rangeSets: [],
    exclusions: [],
    reserved: [],
    lockTimeoutSeconds: DEFAULT_LOCK_TIMEOUT_SECONDS,
    historyBytes: undefined,
    reclaims: true,
    reuseDelaySeconds: 0,
    acceptsRuntimeRanges: false,
    use: undefined,
    failsWhenExhausted: false,
    uncertainty: undefined,
    bridge: undefined,
    bridgeName: undefined,
    isRouted: false,
    link: undefined,
    config: undefined,
  };
}
