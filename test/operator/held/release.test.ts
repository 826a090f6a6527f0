import { test } from "tap";
import type { NodeReservation } from "../../../src/operator/held/network-directory.ts";
import { releaseIn } from "../../../src/operator/held/release.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, location, machineWith, withNetwork } from "../../store/fixtures.ts";
import { startOperator } from "../memory-node.ts";
import { directoryOn } from "./reservation.ts";

const files = {
  "10.0.0.2": "c1\r\neth0",
  "10.0.0.3": "c1\r\neth0",
  "10.0.0.4": "c2",
  lock: "",
};

/** The names of the reservations. */
function namesOn(machine: MemoryMachine): readonly string[] {
  return Object.keys(filesOf(machine)).filter((name) => name !== "lock");
}

function readOn(machine: MemoryMachine): readonly NodeReservation[] {
  return directoryOn(startOperator(machine).system).reservations;
}

test("a release leaves what is gone, has another owner or was written again, be it empty", async (t) => {
  const machine = machineWith({ ...files, "10.0.0.5": "", "10.0.0.6": "" });
  const reservations = readOn(machine);
  machine.wait(1);
  machine.disk.unlink(`${location.directory}/10.0.0.2`);
  machine.disk.put(`${location.directory}/10.0.0.3`, "c1\r\neth0");
  machine.disk.put(`${location.directory}/10.0.0.4`, "c9\r\neth0");
  machine.disk.put(`${location.directory}/10.0.0.6`, "c6\r\neth0");

  const released = releaseIn(directoryOn(startOperator(machine).system), "gc", reservations);

  t.same(
    released.map(({ name }) => name),
    ["10.0.0.5"],
  );
  t.same(namesOn(machine), ["10.0.0.3", "10.0.0.4", "10.0.0.6"]);
});

test("a release opens no other reservation while the lock is held and the journal current", async (t) => {
  const machine = machineWith(files);
  withNetwork(machine.start(), (network) => network.allOwned());
  const chosen = readOn(machine).filter(({ name }) => name === "10.0.0.3");
  const { system, counts } = startOperator(machine);

  releaseIn(directoryOn(system), "gc", chosen);

  const opened = [...counts.keys()].filter((path) => path.startsWith(`${location.directory}/`));
  t.same(
    opened.filter((path) => !path.endsWith("/lock")),
    [`${location.directory}/10.0.0.3`],
  );
});
