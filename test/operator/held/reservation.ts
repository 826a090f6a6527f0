/** Networks and reservations as the commands find them, made without files. */

import { type FoundNetwork, unconfigured } from "../../../src/operator/configured/found-network.ts";
import {
  NetworkDirectory,
  type NodeReservation,
  openedReservation,
} from "../../../src/operator/held/network-directory.ts";
import { openNetwork } from "../../../src/store/files/network-files.ts";
import { contentOf, type Owner } from "../../../src/store/reservations/owner.ts";
import type { OperatorSystem } from "../../../src/system/operator-system.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { networkName } from "../../store/fixtures.ts";
import { startOperator } from "../memory-node.ts";

/** The network `net`, without ranges, in a data directory. */
export function networkIn(dataDir: string, changed: Partial<FoundNetwork> = {}): FoundNetwork {
  const files = openNetwork(new MemoryMachine().start(), dataDir, networkName("net"));
  return { ...unconfigured(files), ...changed };
}

/** The directory of the network `net` in `/data`, as a process sees it. */
export function directoryOn(
  system: OperatorSystem,
  changed: Partial<FoundNetwork> = {},
): NetworkDirectory {
  const files = openNetwork(system, "/data", networkName("net"));
  return new NetworkDirectory(system, [networkIn("/data", { files, ...changed })]);
}

/** A reservation of the network `net`, in a directory of its own by default. */
export function reservationOf(
  owner: Owner,
  text = "10.7.9.2",
  directory: NetworkDirectory = directoryOn(startOperator(new MemoryMachine()).system),
): NodeReservation {
  const content = contentOf(owner) ?? "";
  const status = {
    kind: "file",
    inode: 1n,
    modified: 0n,
    changed: 0n,
    mode: 0o600,
  } as const;
  return openedReservation(directory, text, { ...status, content });
}
