import type { OperatorSystem } from "../../system/operator-system.ts";
import { type NetworkDirectory, networkDirectories } from "./network-directories.ts";
import type { FoundNetwork } from "./networks.ts";
import { type NodeReservation, readReservations } from "./node-reservations.ts";

/** The directory of a network with its reservations. */
export interface DirectoryContents {
  readonly directory: NetworkDirectory;
  readonly reservations: readonly NodeReservation[];
}

/**
 * Reads the reservations of all networks, each directory once.
 *
 * @throws SystemError if a directory cannot be read
 */
export function readDirectories(
  system: OperatorSystem,
  networks: readonly FoundNetwork[],
): readonly DirectoryContents[] {
  return networkDirectories(networks).map((directory) => ({
    directory,
    reservations: readReservations(system, directory.networks[0]),
  }));
}
