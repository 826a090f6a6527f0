/** What the tests of the store work on: a network's files, attachments, range sets. */

import { type Attachment, parseContainerId, parseInterfaceName } from "../../src/cni/attachment.ts";
import type { NetworkName } from "../../src/cni/call.ts";
import type { RangeSet } from "../../src/ipam/range-set.ts";
import { type NetworkFiles, openNetwork } from "../../src/store/files/network-files.ts";
import { readJournal } from "../../src/store/journal/journal-file.ts";
import {
  type AddedNamespace,
  type EarlierReservation,
  isEarlier,
} from "../../src/store/journal/record.ts";
import { reservationStates } from "../../src/store/journal/reservation-states.ts";
import { LockedNetwork } from "../../src/store/locked-network.ts";
import { openAll } from "../../src/store/reservations/directory-scan.ts";
import { type StickyOwner, stickyOwnerOf } from "../../src/store/reuse/sticky.ts";
import type { System } from "../../src/system/system.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { address, rangeSet as rangeSetOf } from "../ipam/parsed.ts";

/** The paths of the network `net` below `/data`. */
export const location = {
  network: networkName("net"),
  directory: "/data/net",
  lockFile: "/data/net/lock",
  stateDirectory: "/data/.host-local/net",
  temporaryDirectory: "/data/.host-local/net/new",
} as const;

/** Opens that network. */
export function open(system: System): NetworkFiles {
  return openNetwork(system, "/data", location.network);
}

/** How many system calls that takes: it looks at the parts of the state directory's path. */
export const OPENING = 3;

export function networkName(text: string): NetworkName {
  return text as NetworkName;
}

/** A machine on which the network's directory exists and holds these files. */
export function machineWith(files: Readonly<Record<string, string>> = {}): MemoryMachine {
  const machine = new MemoryMachine();
  machine.disk.makeDirectories(location.directory);
  for (const [name, content] of Object.entries(files)) {
    machine.disk.put(`${location.directory}/${name}`, content);
  }
  return machine;
}

/** The Go plugin's lock. */
export const HELD = { excludesGoPlugin: true } as const;

/** Does something with the network, as under its lock. */
export function withNetwork<T>(system: System, body: (network: LockedNetwork) => T): T {
  const network = new LockedNetwork(open(system), HELD);
  try {
    return body(network);
  } finally {
    system.writeStandardError(network.close());
  }
}

/** Reserves an address, if it is free, and says so. */
export function reserve(
  network: LockedNetwork,
  name: string,
  owner: Attachment,
  namespace?: AddedNamespace,
): boolean {
  const candidates = () => [{ address: address(name) }];
  return network.reserve(owner, candidates, namespace) !== undefined;
}

/** Whether the journal's seal is current. */
export function isSealed(files: NetworkFiles): boolean {
  return readJournal(files, undefined)?.isCurrent === true;
}

/** What the journal lists, by container and interface; nothing where it is not current. */
export function journalOf(machine: MemoryMachine): Readonly<Record<string, string>> {
  const system = machine.start();
  if (!isSealed(open(system))) return {};
  const held = new Map<string, Set<string>>();
  const [, ...lines] = system
    .readFile(`${location.stateDirectory}/journal`, 1e6)
    .trimEnd()
    .split("\n");
  for (const line of lines) {
    const [, key = "", name = ""] = /^(\S+ \S+) ?(.*)$/.exec(line) ?? [];
    const names = held.get(key) ?? new Set();
    held.set(key, names);
    if (name.startsWith("-")) names.delete(name.slice(1));
    else if (name !== "") names.add(name);
  }
  return Object.fromEntries([...held].map(([key, names]) => [key, [...names].sort().join(" ")]));
}

/** The reservations from before this boot that are still there, by the journal. */
export function earlierOn(machine: MemoryMachine): readonly EarlierReservation[] {
  return [...reservationStates(open(machine.start())).gone(isEarlier)].filter(isEarlier);
}

/** The files in the network's directory, but for the lock. */
export function filesOf(machine: MemoryMachine): Readonly<Record<string, string>> {
  return machine.disk.filesUnder(location.directory);
}

export function attachment(containerId: string, interfaceName = "eth0"): Attachment {
  return {
    containerId: parseContainerId(containerId),
    interfaceName: parseInterfaceName(interfaceName),
  };
}

/** The interface `eth0` of a pod in the namespace `default`, as `sticky` remembers it. */
export function podOwner(name: string): StickyOwner {
  const found = stickyOwnerOf(["default", name], parseInterfaceName("eth0"));
  if (found === undefined) throw new Error(`${name} is no owner`);
  return found;
}

/** One range set with the default range of each subnet. */
export function rangeSet(...subnets: readonly string[]): RangeSet {
  return rangeSetOf(...subnets.map((subnet) => ({ subnet })));
}

/** The names of the reservations of a network from before this boot. */
export function beforeBootIn(files: NetworkFiles): ReadonlySet<string> {
  return reservationStates(files).namesBeforeBoot(() => openAll(files));
}
