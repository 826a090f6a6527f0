/** What there is in a place. */

import type { OperatorSystem } from "../system/operator-system.ts";
import { type Item, takeInventory } from "./inventory.ts";
import type { FoundNetwork } from "./networks.ts";
import { type Place, placesOf } from "./places.ts";

/** A place with its reservations. */
export interface Stock {
  readonly place: Place;
  readonly items: readonly Item[];
}

/**
 * Reads the reservations of all places, each once.
 *
 * @throws SystemError where a directory cannot be read
 */
export function takeStock(
  system: OperatorSystem,
  networks: readonly FoundNetwork[],
): readonly Stock[] {
  return placesOf(networks).map((place) => ({
    place,
    items: takeInventory(system, place.networks[0]),
  }));
}
