/** When the cursors of a network were moved, by the index of their range sets. */

import { test } from "tap";
import { readCursorDates } from "../../../src/operator/facts/cursor-date.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { directoryOn } from "../held/reservation.ts";
import { startOperator } from "../memory-node.ts";

test("each cursor has a date, and nothing else in the directory", async (t) => {
  const machine = new MemoryMachine();
  const { disk } = machine;
  const { system } = startOperator(machine);
  const dates = () => [...readCursorDates(system, directoryOn(system))];
  t.same(dates(), [], "there is no directory");

  disk.put("/data/net/last_reserved_ip.0", "10.1.2.2");
  const first = machine.time;
  machine.wait(5000);
  disk.put("/data/net/last_reserved_ip.12", "10.1.2.2");
  for (const other of ["10.1.2.2", "lock", "last_reserved_ip.x"])
    disk.put(`/data/net/${other}`, "");
  t.same(dates(), [
    [0, first],
    [12, first + 5000],
  ]);
});
