import { test } from "tap";
import {
  directoryExists,
  listReservations,
  readOwner,
} from "../../../src/store/reservations/reservation-file.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { machineWith, open } from "../fixtures.ts";

test("every file named like an address is a reservation, whatever its kind, sorted by address", async (t) => {
  const machine = machineWith({
    "10.0.0.9": "",
    "10.0.0.10": "",
    "2001:db8::a": "",
    "2001:DB8::a": "",
    "2001:Db8::a": "",
    "::1": "",
    lock: "",
    "last_reserved_ip.0": "",
    "10.0.0": "",
    "10.0.0.256": "",
    "10.0.0.2.bak": "",
    ".host-local-1-0": "",
  });
  machine.disk.makeDirectories("/data/net/10.0.0.11");

  t.same(
    listReservations(open(machine.start())).map(({ name }) => name),
    ["10.0.0.9", "10.0.0.10", "10.0.0.11", "::1", "2001:DB8::a", "2001:Db8::a", "2001:db8::a"],
  );
});

test("a missing directory holds nothing; one that cannot be read is an error", async (t) => {
  t.same(listReservations(open(new MemoryMachine().start())), []);
  const refused = machineWith().start({ interrupt: refuse("listAddresses", "EACCES") });
  t.throws(() => listReservations(open(refused)), {
    message: "open /data/net: permission denied",
  });
});

test("a file that is not regular, is gone or is far too large has no owner", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c".repeat(300_000) });
  t.same(readOwner(open(machine.start()), "10.0.0.2"), { kind: "unowned" });
  for (const code of ["ENOENT", "EISDIR", "ELOOP", "ENXIO"]) {
    const system = machine.start({ interrupt: refuse("readFile", code) });
    t.same(readOwner(open(system), "10.0.0.2"), { kind: "unowned" }, code);
  }
});

test("a network's directory exists, is missing, or is not a directory", async (t) => {
  const inTheWay = new MemoryMachine();
  inTheWay.disk.put("/data/net", "");
  const above = new MemoryMachine();
  above.disk.put("/data", "");

  t.equal(directoryExists(open(machineWith().start())), true);
  t.equal(directoryExists(open(new MemoryMachine().start())), false);
  for (const [machine, path] of [
    [inTheWay, "/data/net"],
    [above, "/data"],
  ] as const) {
    t.throws(() => directoryExists(open(machine.start())), {
      code: 999,
      message: `mkdir ${path}: not a directory`,
    });
  }
  const refused = machineWith().start({ interrupt: refuse("status", "EACCES") });
  t.throws(() => directoryExists(open(refused)), { message: /permission denied/ });
});
