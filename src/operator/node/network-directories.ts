import type { Address } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import type { FoundNetwork } from "./networks.ts";

/** The directory of a network, with all configurations that use it. */
export interface NetworkDirectory {
  readonly location: NetworkFiles;
  /** One for each configuration; a single one without a source if nothing configures the network. */
  readonly networks: readonly [FoundNetwork, ...FoundNetwork[]];
}

/** Groups networks by their directories, in the order in which these first appear. */
export function networkDirectories(networks: readonly FoundNetwork[]): readonly NetworkDirectory[] {
  const groups = Map.groupBy(networks, ({ location }) => location.directory);
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ location: first.location, networks: [first, ...others] }],
  );
}

/** Merges the networks that share a directory into one with the ranges of all. */
export function mergeByDirectory(networks: readonly FoundNetwork[]): readonly FoundNetwork[] {
  return networkDirectories(networks).map(({ networks: all }) => ({
    ...all[0],
    rangeSets: all.flatMap(({ rangeSets }) => rangeSets),
  }));
}

/** The files that configure a network. */
export function sourcesOf({ networks }: NetworkDirectory): readonly string[] {
  return [...new Set(networks.flatMap(({ source }) => (source === undefined ? [] : [source])))];
}

/** Whether all ranges are configured: the runtime supplies none. */
export function hasKnownRanges({ networks }: NetworkDirectory): boolean {
  return networks.every(
    ({ rangeSets, acceptsRuntimeRanges }) => rangeSets.length > 0 && !acceptsRuntimeRanges,
  );
}

/** All ranges of all configurations. */
export function rangesOf({ networks }: NetworkDirectory): readonly Range[] {
  return networks.flatMap(({ rangeSets }) => rangeSets.flatMap((set) => [...set]));
}

/** The range sets that the cursor with this index may belong to, at most one for each configuration. */
export function rangeSetsAt({ networks }: NetworkDirectory, index: number): readonly RangeSet[] {
  return networks.flatMap(({ rangeSets }) => {
    const set = rangeSets[index];
    return set === undefined ? [] : [set];
  });
}

/** The range set of a network that contains an address. */
export function rangeSetOf(
  { rangeSets }: Pick<FoundNetwork, "rangeSets">,
  address: Address,
): RangeSet | undefined {
  return rangeSets.find((set) => rangeOf(set, address) !== undefined);
}
