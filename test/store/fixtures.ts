/** What a store works on: a location, attachments, range sets. */

import { type Attachment, parseContainerId, parseInterfaceName } from "../../src/cni/attachment.ts";
import type { NetworkName } from "../../src/cni/call.ts";
import { type Address, parseAddress } from "../../src/ipam/address.ts";
import { parsePrefix } from "../../src/ipam/prefix.ts";
import { makeRangeSets, type RangeSet } from "../../src/ipam/range-set.ts";
import { type Location, locate } from "../../src/store/files/paths.ts";
import { currentSeal, journalPath, readJournal } from "../../src/store/journal/journal-file.ts";
import { Store } from "../../src/store/locked-network.ts";
import type { System } from "../../src/system/system.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";

export const location: Location = locate("/data", networkName("net"));

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

/** Does something with a store, as under the lock. */
export function withStore<T>(system: System, body: (store: Store) => T): T {
  const store = new Store(system, location, true);
  try {
    return body(store);
  } finally {
    store.close();
    system.writeStandardError(store.warnings);
  }
}

/** What the journal lists, by container and interface; nothing where it is not current. */
export function journalOf(machine: MemoryMachine): Readonly<Record<string, string>> {
  const system = machine.start();
  const journal = readJournal(system, location, undefined);
  if (journal === undefined || currentSeal(system, location, journal) === undefined) return {};
  const held = new Map<string, Set<string>>();
  const [, ...lines] = system.readFile(journalPath(location), 1e6).trimEnd().split("\n");
  for (const line of lines) {
    const [, key = "", name = ""] = /^(\S+ \S+) ?(.*)$/.exec(line) ?? [];
    const names = held.get(key) ?? new Set();
    held.set(key, names);
    if (name.startsWith("-")) names.delete(name.slice(1));
    else if (name !== "") names.add(name);
  }
  return Object.fromEntries([...held].map(([key, names]) => [key, [...names].sort().join(" ")]));
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

export function address(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(`${text} is no address`);
  return parsed;
}

/** One range set with the default range of each subnet. */
export function rangeSet(...subnets: readonly string[]): RangeSet {
  const ranges = subnets.map((subnet) => ({
    path: "",
    subnet: parsePrefix(subnet),
    rangeStart: undefined,
    rangeEnd: undefined,
    gateway: undefined,
  }));
  const [set] = makeRangeSets([{ path: "", ranges }], undefined);
  if (set === undefined) throw new Error("there is no set");
  return set;
}
