/** A network's configuration, with what the files of this node say that it names. */

import type { NetworkConfiguration } from "../cni/call.ts";
import { allowsOneAddressPerFamily } from "../cni/version.ts";
import { hasRanges, type IpamConfig, readConfig, type StoreConfig } from "../ipam/config.ts";
import { exclusionsForAll } from "../ipam/exclusions.ts";
import { partsOf } from "../ipam/partition.ts";
import { makeRangeSets, type RangeSet, type RangeSetSpec } from "../ipam/range-set.ts";
import type { System } from "../system/system.ts";
import { readPartition } from "./partition-file.ts";
import { rangeSetsInFile } from "./ranges-file.ts";

/**
 * Reads and checks the whole configuration; errors have the Go plugin's words and order.
 *
 * @param args the value of `CNI_ARGS`
 * @param system reads `rangesFile`, and what `partition` names, where they are configured
 * @throws CniError 999 with the path in its details
 */
export function loadConfig(
  network: NetworkConfiguration,
  args: string,
  system: Pick<System, "readFile" | "list">,
): IpamConfig {
  const { config, ranges, rangesFile, partition: settings } = readConfig(network, args);
  const further = rangesFile === "" ? [] : rangeSetsInFile(system, rangesFile, network.name);
  const specs = [...ranges, ...further];
  const sets = setsOf(network, specs);
  if (settings === undefined) return { ...config, rangeSets: sets, partition: undefined };
  const partition = readPartition(system, settings);
  const rangeSets = partsOf(sets, specs, exclusionsForAll(config), partition);
  return { ...config, rangeSets, partition };
}

/**
 * Loads the configuration as `loadConfig` does, without a call: ranges that the runtime provides come with an ADD alone.
 *
 * @returns without range sets, where the configuration has none
 * @throws CniError 999 with the path in its details
 */
export function loadWithoutCall(
  network: NetworkConfiguration,
  system: Pick<System, "readFile" | "list">,
): IpamConfig {
  if (hasRanges(network)) return loadConfig(network, "", system);
  return { ...readConfig(network, "").config, rangeSets: [], partition: undefined };
}

/**
 * Loads the configuration as `loadConfig` does, without the files of the node: a CHECK needs no ranges, and a runtime that
 * starts before these files are there must not take a failed one for the end of its pods.
 *
 * @param args the value of `CNI_ARGS`
 * @throws CniError 999 with the path in its details
 */
export function checkConfig(network: NetworkConfiguration, args: string): StoreConfig {
  const { config, ranges, rangesFile } = readConfig(network, args);
  if (rangesFile === "") setsOf(network, ranges);
  return config;
}

function setsOf(
  { version, versionText }: NetworkConfiguration,
  specs: readonly RangeSetSpec[],
): readonly RangeSet[] {
  return makeRangeSets(specs, allowsOneAddressPerFamily(version) ? { versionText } : undefined);
}
