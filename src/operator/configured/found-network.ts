/** A network on this node: its files, its configuration, its main plugin and the file that says so. */

import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { configurationOf } from "../../cni/call.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import { type JsonObject, valueInAnyCase } from "../../cni/json.ts";
import { loadWithoutCall } from "../../configuration/load-config.ts";
import {
  hasRanges,
  type IpamConfig,
  isGcOnly,
  loadStoreConfig,
  readConfig,
} from "../../ipam/config.ts";
import { type NetworkFiles, openNetwork } from "../../store/files/network-files.ts";
import type { System } from "../../system/system.ts";
import type { ConfigurationProblem } from "./configuration-files.ts";
import type { Configuration } from "./configurations.ts";
import type { FileUse } from "./file-in-use.ts";
import { type MainPlugin, mainPluginOf, PASSING_ON } from "./main-plugin.ts";

/**
 * A network, found by a configuration or only by its directory. Its configuration is what an ADD loads, but for what the runtime
 * adds: without ranges if the runtime supplies them, they are invalid or not known, or the network is not configured.
 */
export interface FoundNetwork extends IpamConfig, MainPlugin {
  readonly files: NetworkFiles;
  /** The file that configures it, or the cache's directory with its configuration; `undefined` if only its directory is known. */
  readonly source: string | undefined;
  /** Who uses the file; `undefined` if only its directory is known. */
  readonly use: FileUse | undefined;
  /** Whether an ADD can load the configuration, and reserves addresses by it. */
  readonly reserves: boolean;
  /** Whether the runtime may supply ranges, before the configured ones (the `ipRanges` capability). */
  readonly acceptsRuntimeRanges: boolean;
  /** Why its ranges are not known; `undefined` where they are as configured. */
  readonly uncertainty: string | undefined;
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
    const store = loadStoreConfig(configurationOf(document));
    const files = openNetwork(system, dataDir ?? store.dataDir, store.network);
    network = {
      ...unconfigured(files),
      ...store,
      ...mainPluginOf(document),
      source,
      // The names of capabilities are no keys of Go's: the runtime gives what is named in its own letters.
      acceptsRuntimeRanges:
        exactMember(valueInAnyCase(document, "capabilities"), "ipRanges") === true,
    };
    if (!files.dataDir.startsWith("/") && dataDir === undefined) {
      const problem = `ipam.dataDir is relative (${files.dataDir}): the plugin resolves it in the runtime's working directory, this command in its own; set --data-dir`;
      problems.push({ source, problem });
    }
    if (asksForPodCidr(document)) return { ...network, uncertainty: UNKNOWN_POD_CIDR };
    const configuration = configurationOf(document);
    const isForGc = isGcOnly(configuration);
    if (!hasRanges(configuration)) {
      if (isForGc) return network;
      const isExplained = problems.some((problem) => problem.source === source);
      const isPassedOn = PASSING_ON.includes(textOf(valueInAnyCase(document, "type")));
      if (isPassedOn && !network.acceptsRuntimeRanges && !isExplained) {
        problems.push({ source, problem: NO_RANGES });
      }
    }
    const config = loadWithoutCall(configuration, system);
    return { ...network, ...config, reserves: !isForGc };
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    problems.push({ source, problem: messageWithDetails(error) });
    return network;
  }
}

/** Whether the ranges are the podCIDR, in any letter case, which Calico's plugin puts in before it calls this one. */
function asksForPodCidr({ ipam = null, ...plugin }: JsonObject): boolean {
  const isCalico = textOf(valueInAnyCase(plugin, "type")) === "calico";
  return isCalico && /"subnet":"usePodCidr(?:IPv6)?"/i.test(JSON.stringify(ipam));
}

const UNKNOWN_POD_CIDR =
  "its ranges are the podCIDR of this node (usePodCidr), which only the API server knows: kubectl get node NODE -o jsonpath='{.spec.podCIDRs}' shows it";

const NO_RANGES =
  "no IP ranges specified, so that every ADD fails; expected ipam.subnet or ipam.ranges, or the capability ipRanges where the runtime sends them";

/** A network of which nothing is known but its directory. */
export function unconfigured(files: NetworkFiles): FoundNetwork {
  const nothing = configurationOf({ cniVersion: "1.0.0", name: files.network, ipam: {} });
  return {
    ...readConfig(nothing, "").config,
    ...mainPluginOf({}),
    rangeSets: [],
    partition: undefined,
    files,
    source: undefined,
    use: undefined,
    reserves: false,
    acceptsRuntimeRanges: false,
    uncertainty: undefined,
  };
}
