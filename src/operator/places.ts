/** A place is the directory of a network, with all configurations that use it. */

import type { Address } from "../ipam/address.ts";
import type { Range } from "../ipam/range.ts";
import { type RangeSet, rangeOf } from "../ipam/range-set.ts";
import type { Location } from "../store/location.ts";
import type { FoundNetwork } from "./networks.ts";

/** The directory of a network. */
export interface Place {
  readonly location: Location;
  /** At least one; it has no source where nothing configures the network. */
  readonly networks: readonly [FoundNetwork, ...FoundNetwork[]];
}

/** Brings together what shares a directory; the order stays. */
export function placesOf(networks: readonly FoundNetwork[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const network of networks) {
    const { location } = network;
    const place = places.get(location.directory);
    places.set(
      location.directory,
      place === undefined
        ? { location, networks: [network] }
        : { location, networks: [...place.networks, network] },
    );
  }
  return [...places.values()];
}

/** The files that configure a place. */
export function sourcesOf({ networks }: Place): readonly string[] {
  return [...new Set(networks.flatMap(({ source }) => (source === undefined ? [] : [source])))];
}

/** Whether all ranges are known: none is brought by the runtime. */
export function knowsItsRanges({ networks }: Place): boolean {
  return networks.every(({ rangeSets, mayGetRanges }) => rangeSets.length > 0 && !mayGetRanges);
}

/** All ranges of all configurations of a place. */
export function rangesOf({ networks }: Place): readonly Range[] {
  return networks.flatMap(({ rangeSets }) => rangeSets.flatMap((set) => [...set]));
}

/** The sets that the cursor with this index may belong to, one for each configuration. */
export function setsAt({ networks }: Place, index: number): readonly RangeSet[] {
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
