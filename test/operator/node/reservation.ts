/** Networks and reservations as the commands find them, made without files. */

import type { FoundNetwork } from "../../../src/operator/node/networks.ts";
import type { NodeReservation } from "../../../src/operator/node/node-reservations.ts";
import { openNetwork } from "../../../src/store/files/network-files.ts";
import type { Owner } from "../../../src/store/reservations/owner.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { address, networkName } from "../../store/fixtures.ts";

/** The network `net`, without ranges, in a data directory. */
export function networkIn(dataDir: string, changed: Partial<FoundNetwork> = {}): FoundNetwork {
  return {
    location: openNetwork(new MemoryMachine().start(), dataDir, networkName("net")),
    source: undefined,
    rangeSets: [],
    exclusions: [],
    lockTimeoutSeconds: 30,
    historyBytes: undefined,
    reclaimsAfterReboot: true,
    reuseDelaySeconds: 0,
    acceptsRuntimeRanges: false,
    bridge: undefined,
    ...changed,
  };
}

/** A reservation of the network `net`. */
export function reservationOf(owner: Owner, text = "10.7.9.2"): NodeReservation {
  return {
    network: networkIn("/data"),
    address: address(text),
    name: text,
    path: `/data/net/${text}`,
    owner,
    since: 0,
    isBeforeBoot: false,
    range: undefined,
  };
}
