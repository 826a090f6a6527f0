import { test } from "tap";
import type { NetworkFiles } from "../../../src/store/files/network-files.ts";
import { Records } from "../../../src/store/journal/records.ts";
import {
  ReservationStates,
  reservationStates,
} from "../../../src/store/journal/reservation-states.ts";
import { AddressUse } from "../../../src/store/namespaces/address-use.ts";
import { NamespaceStates } from "../../../src/store/namespaces/namespace-state.ts";
import { keyOf } from "../../../src/store/reservations/owner.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { attachment, machineWith, open, reserve, withNetwork } from "../fixtures.ts";

const alive = "/run/netns/alive";

/** The file of a reservation, as a record has it. */
function fileOf({ system, directory }: NetworkFiles, name: string): string {
  const { inode, modified, changed } = system.linkStatus(`${directory}/${name}`);
  return `${inode},${modified},${changed}`;
}

/** What lines of a journal record. */
function recordedBy(files: NetworkFiles, ...lines: readonly string[]): ReservationStates {
  const states = new NamespaceStates(files.system);
  return new ReservationStates(files, new Records(lines), states);
}

/** The names of the reservations that any ADD may reclaim. */
function namesOn(machine: MemoryMachine): readonly string[] {
  const files = open(machine.start());
  const recorded = reservationStates(files);
  return [...recorded.reclaimable((name) => name, new AddressUse(files))].map(
    ({ wanted }) => wanted,
  );
}

/** What is recorded of 10.0.0.2, for a namespace at a path. */
function recorded(path: string): ReservationStates {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.namespaces.set(alive, 4026532001n);
  const files = open(machine.start());
  const inode = path === alive ? 4026532001 : 4026532002;
  return recordedBy(files, `c1 eth0 10.0.0.2 12,5,7 ${inode} pod ${path}`);
}

test("what may be another reservation with number and time of a recorded one only lives with it", async (t) => {
  for (const [path, same, state] of [
    [alive, true, "alive"],
    [alive, undefined, "alive"],
    [alive, false, undefined],
    ["/run/netns/gone", true, "dead"],
    ["/run/netns/gone", undefined, undefined],
    ["/run/netns/gone", false, undefined],
  ] as const) {
    t.equal(recorded(path).fateOf("10.0.0.2", () => same)?.kind, state, `${path}, ${same}`);
  }
  t.equal(
    recorded(alive).fateOf("10.0.0.3", () => true),
    undefined,
    "nothing is recorded",
  );
});

test("of a journal that cannot be read it is not said that nothing is recorded", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const files = open(machine.start({ interrupt: refuse("findLines", "EIO") }));
  t.match(
    reservationStates(files).fateOf("10.0.0.2", () => true),
    { kind: "unread", reason: "the journal cannot be read" },
  );
  const missing = open(machineWith({ "10.0.0.2": "c1\r\neth0" }).start());
  t.equal(
    reservationStates(missing).fateOf("10.0.0.2", () => true),
    undefined,
  );
});

test("of thousands with one number, all recorded before the living one are gone, in linear time", async (t) => {
  const names = Array.from({ length: 10_000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  const idOf = (at: number): string => `${at}`.padStart(64, "0");
  const contents = names.map((name, at) => [name, `${idOf(at)}\r\neth0`]);
  const machine = machineWith(Object.fromEntries(contents));
  machine.namespaces.set(alive, 4026532001n);
  const files = open(machine.start());
  const lines = names.map((name, at) => {
    const file = fileOf(files, name);
    const path = at === names.length - 2 ? alive : `/run/netns/${name}`;
    return `${idOf(at)} eth0 ${name} ${file} 4026532001 pod ${path}`;
  });
  let looks = 0;
  const interrupt: Interrupt = ({ operation }) => {
    if (operation === "status") looks++;
    return undefined;
  };
  const { system } = open(machine.start({ interrupt }));
  const states = new NamespaceStates(system);
  const all = new ReservationStates(files, new Records(lines), states);
  const gone = [...all.gone(() => true)].map(({ name }) => name);
  t.equal(gone.join(), names.slice(0, -2).join(), "the last has a number that nothing explains");
  // Of each that is gone: the one that lives, twice. Not of each other.
  t.ok(looks < 3 * names.length, `${looks} system calls`);
});

test("a record is of the boot that made it: later, numbers of namespaces mean nothing", async (t) => {
  const machine = machineWith({ "10.0.0.3": "c2\r\neth0" });
  machine.namespaces.set(alive, 4026532001n);
  const namespace = { inode: "4026532001", path: alive, isPodSandbox: true };
  for (const [name, id] of [
    ["10.0.0.2", "c1"],
    ["10.0.0.4", "c4"],
  ] as const) {
    withNetwork(machine.start(), (network) => {
      network.heldBy(attachment(id), "search");
      reserve(network, name, attachment(id), namespace);
    });
    machine.wait(5000);
  }
  const fateOf = (name: string): string | undefined =>
    reservationStates(open(machine.start())).fateOf(name)?.kind;
  t.equal(fateOf("10.0.0.2"), "alive");
  t.equal(fateOf("10.0.0.3"), undefined, "nothing is recorded");
  machine.namespaces.delete(alive);
  t.equal(fateOf("10.0.0.2"), "dead");
  t.same(namesOn(machine), ["10.0.0.2", "10.0.0.4"]);
  machine.boot();
  t.equal(fateOf("10.0.0.2"), "dead");
  const all = ["10.0.0.2", "10.0.0.3", "10.0.0.4"];
  t.same(namesOn(machine), all, "all are from before this boot");
});

test("a number of the caller's own namespace is no dead pod's, unless the caller may be that pod", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.namespaces.set(alive, 4026532001n);
  const files = open(machine.start());
  const file = fileOf(files, "10.0.0.2");
  const lines = [`c1 eth0 10.0.0.2 ${file} 4026532001 pod /run/netns/gone`];
  const goneFor = (container: string, interfaceName = "eth0"): readonly string[] => {
    const recorded = recordedBy(files, ...lines);
    const caller = attachment(container, interfaceName);
    const namespace = { inode: "4026532001", path: alive, isPodSandbox: true };
    const { containerId } = caller;
    const gone = recorded.gone(() => true, { key: keyOf(caller), containerId, namespace });
    return [...gone].map(({ name }) => name);
  };
  t.same(goneFor("c2"), ["10.0.0.2"], "another container");
  t.same(goneFor("c1"), ["10.0.0.2"], "the same attachment, which is started again");
  t.same(goneFor("c1", "net1"), [], "another attachment of the container: it may be the same");
});

test("a number goes on to a later record of another container, and to no other record", async (t) => {
  const gone = "/run/netns/gone";
  for (const [records, state] of [
    [["c1 10.0.0.2", "c2 10.0.0.3"], "dead"],
    [["c2 10.0.0.3", "c1 10.0.0.2"], "unseen"],
    [["c1 10.0.0.2", "c1 10.0.0.3"], "unseen"],
  ] as const) {
    const machine = machineWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" });
    machine.namespaces.set(alive, 4026532001n);
    const files = open(machine.start());
    const lines = records.map((record) => {
      const [id = "", name = ""] = record.split(" ");
      const file = fileOf(files, name);
      const path = name === "10.0.0.2" ? gone : alive;
      return `${id} eth0 ${name} ${file} 4026532001 pod ${path}`;
    });
    const recorded = recordedBy(files, ...lines);
    t.equal(recorded.fateOf("10.0.0.2", () => true)?.kind, state, records.join());
  }
});
