/** A place is the directory of a network, with all configurations that use it. */

import type { Address } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import type { Location } from "../../store/location.ts";
import type { FoundNetwork } from "./networks.ts";

/** The directory of a network. */
export interface NetworkDirectory {
  readonly location: Location;
  /** At least one; it has no source where nothing configures the network. */
  readonly networks: readonly [FoundNetwork, ...FoundNetwork[]];
}

/** Brings together what shares a directory; the order stays. */
export function networkDirectories(networks: readonly FoundNetwork[]): readonly NetworkDirectory[] {
  const directories = new Map<string, NetworkDirectory>();
  for (const network of networks) {
    const { location } = network;
    const directory = directories.get(location.directory);
    directories.set(
      location.directory,
      directory === undefined
        ? { location, networks: [network] }
        : { location, networks: [...directory.networks, network] },
    );
  }
  return [...directories.values()];
}

/** The files that configure a place. */
export function sourcesOf({ networks }: NetworkDirectory): readonly string[] {
  return [...new Set(networks.flatMap(({ source }) => (source === undefined ? [] : [source])))];
}

/** Whether all ranges are known: none is brought by the runtime. */
export function knowsItsRanges({ networks }: NetworkDirectory): boolean {
  return networks.every(({ rangeSets, mayGetRanges }) => rangeSets.length > 0 && !mayGetRanges);
}

/** All ranges of all configurations of a place. */
export function rangesOf({ networks }: NetworkDirectory): readonly Range[] {
  return networks.flatMap(({ rangeSets }) => rangeSets.flatMap((set) => [...set]));
}

/** The sets that the cursor with this index may belong to, one for each configuration. */
export function setsAt({ networks }: NetworkDirectory, index: number): readonly RangeSet[] {
  return networks.flatMap(({ rangeSets }) => {
    const set = rangeSets[index];
    return set === undefined ? [] : [set];
  });
}

/** The set of a network in which an address lies. */
export function setOf(
  { rangeSets }: Pick<FoundNetwork, "rangeSets">,
  address: Address,
): RangeSet | undefined {
  return rangeSets.find((set) => rangeOf(set, address) !== undefined);
}
