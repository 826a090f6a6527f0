/** The Go plugin's ADD, as far as others can see it: it creates a reservation first and writes it then. */

import type { Network } from "../../harness/network.ts";

/** The owner that a Go plugin writes here. */
export const GO_OWNER = "neighbour-go\r\neth0";

/** A reservation that a Go plugin has created and not written yet. */
export interface GoReservation {
  readonly address: string;
  /** Writes the owner and the cursor. */
  readonly write: () => void;
}

/**
 * Creates a reservation, empty, at the first of `addresses` that is free, without a look at the portable lock.
 *
 * @returns `undefined` where all are taken
 */
export function createAsGo(
  network: Network,
  addresses: readonly string[],
): GoReservation | undefined {
  const { directory, machine } = network;
  machine.disk.makeDirectories(directory);
  const address = addresses.find((candidate) => !machine.disk.has(`${directory}/${candidate}`));
  if (address === undefined) return undefined;
  const path = `${directory}/${address}`;
  machine.disk.createFile(path, "", 0o600);
  const write = (): void => {
    machine.disk.write(path, GO_OWNER);
    machine.disk.put(`${directory}/last_reserved_ip.0`, address);
  };
  return { address, write };
}
