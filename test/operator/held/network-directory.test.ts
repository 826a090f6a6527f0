/** Reservations that change while they are read. */

import { test } from "tap";
import { containerOf } from "../../../src/store/reservations/owner.ts";
import { refuse } from "../../harness/interruption.ts";
import { location, machineWith } from "../../store/fixtures.ts";
import { startOperator } from "../memory-node.ts";
import { directoryOn } from "./reservation.ts";

const names = ["10.7.9.2", "10.7.9.3", "10.7.9.4"];
const path = `${location.directory}/10.7.9.3`;

const changes = {
  "goes is left out": { content: undefined, expected: ["of-10.7.9.2", "of-10.7.9.4"] },
  "is reserved anew has its new owner": {
    content: "new\r\neth0",
    expected: ["of-10.7.9.2", "new", "of-10.7.9.4"],
  },
} as const;

for (const [what, { content, expected }] of Object.entries(changes)) {
  test(`reservations: one that ${what}`, async (t) => {
    const machine = machineWith(
      Object.fromEntries(names.map((name) => [name, `of-${name}\r\neth0`])),
    );
    const directory = directoryOn(startOperator(machine).system);
    t.equal(directory.listed.length, 3);
    machine.disk.unlink(path);
    if (content !== undefined) machine.disk.put(path, content);

    const found = directory.reservations.map(({ owner }) => containerOf(owner));

    t.same(found, expected);
  });
}

test("reservations are in the order of their addresses, IPv4 first, whatever their form", async (t) => {
  const machine = machineWith({
    "2001:db8::10": "c1\r\neth0",
    "10.7.9.10": "c2\r\neth0",
    "2001:db8::9": "c3\r\neth0",
    "10.7.9.9": "c4",
    "10.7.9.8": "c5\r\neth0",
    "::ffff:10.7.9.7": "c6\r\neth0",
    beef: "c7\r\neth0",
    "10.7.9.08": "c8\r\neth0",
  });

  const directory = directoryOn(startOperator(machine).system);

  t.same(
    directory.reservations.map(({ owner }) => containerOf(owner)),
    ["c6", "c5", "c4", "c2", "c3", "c1"],
  );
});

test("the reservations of an address are those of all its names, also what was reserved since", async (t) => {
  const machine = machineWith({ "10.7.9.3": "c2\r\neth0", "::ffff:10.7.9.3": "c3\r\neth0" });
  const directory = directoryOn(startOperator(machine).system);
  t.equal(directory.reservations.length, 2);
  machine.disk.put(`${location.directory}/10.7.9.4`, "c4\r\neth0");
  const heldAt = (address: string) =>
    directory.heldAt(address).map(({ owner }) => containerOf(owner));
  t.same(heldAt("10.7.9.3"), ["c2", "c3"]);
  t.same(heldAt("10.7.9.4"), ["c4"]);
});

test("a file that cannot be looked at is not taken for one that was released", async (t) => {
  const machine = machineWith({ "10.7.9.3": "c1\r\neth0" });
  const { system } = startOperator(machine, refuse("linkStatus", "EACCES", path));
  const found = directoryOn(system).heldAt("10.7.9.3");
  t.match(found, [{ name: "10.7.9.3", owner: { kind: "unknown", code: "EACCES" } }]);
});
