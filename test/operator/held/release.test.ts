import { test } from "tap";
import type { NodeReservation } from "../../../src/operator/held/network-directory.ts";
import { releaseUnchanged } from "../../../src/operator/held/release.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import {
  beforeBootIn,
  filesOf,
  journalOf,
  location,
  machineWith,
  open,
  withNetwork,
} from "../../store/fixtures.ts";
import { startOperator } from "../memory-node.ts";
import { directoryOn } from "./reservation.ts";

const files = { "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c1\r\neth0", "10.0.0.4": "c2" };

function readOn(machine: MemoryMachine): readonly NodeReservation[] {
  return directoryOn(startOperator(machine).system).reservations;
}

test("releaseUnchanged releases what is as it was read, also in the journal", async (t) => {
  const machine = machineWith(files);
  withNetwork(machine.start(), (network) => network.allOwned());
  const chosen = readOn(machine).filter(({ name }) => name !== "10.0.0.3");

  const released = withNetwork(machine.start(), (network) => releaseUnchanged(network, chosen));

  t.same(released, chosen);
  t.same(Object.keys(filesOf(machine)), ["10.0.0.3"]);
  t.same(journalOf(machine), { "c1 eth0": "10.0.0.3", "c2 /": "" });
});

test("releaseUnchanged leaves what is gone, has another owner or was written again, be it empty", async (t) => {
  const machine = machineWith({ ...files, "10.0.0.5": "", "10.0.0.6": "" });
  const reservations = readOn(machine);
  machine.wait(1);
  machine.disk.unlink(`${location.directory}/10.0.0.2`);
  machine.disk.put(`${location.directory}/10.0.0.3`, "c1\r\neth0");
  machine.disk.put(`${location.directory}/10.0.0.4`, "c9\r\neth0");
  machine.disk.put(`${location.directory}/10.0.0.6`, "c6\r\neth0");

  const released = withNetwork(machine.start(), (network) =>
    releaseUnchanged(network, reservations),
  );

  t.same(
    released.map(({ name }) => name),
    ["10.0.0.5"],
  );
  t.same(Object.keys(filesOf(machine)), ["10.0.0.3", "10.0.0.4", "10.0.0.6"]);
});

test("releaseUnchanged reports what cannot be removed after the rest is removed", async (t) => {
  const machine = machineWith(files);
  const reservations = readOn(machine);
  const interrupt = refuse("unlink", "EIO", `${location.directory}/10.0.0.2`);

  t.throws(
    () =>
      withNetwork(machine.start({ interrupt }), (network) =>
        releaseUnchanged(network, reservations),
      ),
    { code: 5, message: "failed to release 1 of 3 addresses" },
  );
  t.same(Object.keys(filesOf(machine)), ["10.0.0.2"]);
});

test("releaseUnchanged opens no other reservation while the lock is held and the journal current", async (t) => {
  const machine = machineWith(files);
  withNetwork(machine.start(), (network) => network.allOwned());
  const chosen = readOn(machine).filter(({ name }) => name === "10.0.0.3");
  const { system, counts } = startOperator(machine);

  withNetwork(system, (network) => releaseUnchanged(network, chosen));

  const opened = [...counts.keys()].filter((path) => path.startsWith(`${location.directory}/`));
  t.same(opened, [`${location.directory}/10.0.0.3`]);
});

test("the first call of a boot notes what is from before it, also where it releases", async (t) => {
  const machine = machineWith({ ...files, "10.0.0.5": "", lock: "" });
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(60_000);
  machine.boot();
  const before = beforeBootIn(open(machine.start()));
  t.same([...before], ["10.0.0.2", "10.0.0.3"]);
  const chosen = readOn(machine).filter(({ name }) => name === "10.0.0.2");

  withNetwork(machine.start(), (network) => releaseUnchanged(network, chosen));

  const left = new Set(Object.keys(filesOf(machine)));
  t.equal(left.size, 4, "with the lock, and without what was removed");
  t.same(beforeBootIn(open(machine.start())), before.intersection(left));
});
