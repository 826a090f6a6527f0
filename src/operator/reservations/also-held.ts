/** What else a container holds in a network, beside the reservations that were asked for. */

import { formatAddress } from "../../ipam/address.ts";
import type { NodeReservation } from "../node/network-directory.ts";
import { containerOf, interfaceOf } from "../node/node-reservations.ts";

/**
 * The other reservations of the same containers in the same networks.
 *
 * @throws SystemError if a directory cannot be read
 */
export function othersOf(reservations: readonly NodeReservation[]): readonly NodeReservation[] {
  const networks = [...new Set(reservations.map(({ network }) => network))];
  return networks.flatMap((network) => {
    const here = reservations.filter((reservation) => reservation.network === network);
    const paths = new Set(here.map(({ path }) => path));
    const containers = new Set(here.map(({ owner }) => containerOf(owner)));
    containers.delete("");
    if (containers.size === 0) return [];
    return network.reservations.filter(
      ({ owner, path }) => containers.has(containerOf(owner)) && !paths.has(path),
    );
  });
}

/** The others in a sentence. */
export function othersText(others: readonly NodeReservation[]): string {
  const held = others.map(({ address, owner, network: { files } }) => {
    const interfaceName = interfaceOf(owner);
    const place = interfaceName === "" ? files.network : `${interfaceName} in ${files.network}`;
    return `${formatAddress(address)} (${place})`;
  });
  return `The container also holds ${held.join(", ")}.`;
}
