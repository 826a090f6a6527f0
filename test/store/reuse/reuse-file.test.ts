import { test } from "tap";
import {
  ageOf,
  NOTHING,
  type ReuseChange,
  type ReuseTimes,
  readReuse,
  updateReuse,
} from "../../../src/store/reuse/reuse-file.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { location, machineWith, open, podOwner } from "../fixtures.ts";

const FILE = `${location.stateDirectory}/reuse`;
const times: ReuseTimes = { sticky: 60, delay: 30 };

/** Notes a change as a call does that has read the file before. */
function update(machine: MemoryMachine, change: Partial<ReuseChange>): void {
  const files = open(machine.start());
  const all = { reserved: NOTHING, released: [], ...change };
  updateReuse(files, readReuse(files), all, times, true);
}

function reserve(machine: MemoryMachine, name: string, ...addresses: readonly string[]): void {
  update(machine, { reserved: { owner: podOwner(name), addresses } });
}

/** Who is remembered with what, and for how many milliseconds, the oldest first. */
function records(machine: MemoryMachine): readonly string[] {
  return readReuse(open(machine.start())).map((record) => {
    const { owner = "nobody", address } = record;
    return `${owner} ${address} ${ageOf(record, machine.time)}`;
  });
}

test("what one call releases and reserves is reserved; what it is in place of is nobody's", async (t) => {
  const machine = machineWith();
  reserve(machine, "web-0", "10.0.0.2", "10.0.0.3");
  const reserved = { owner: podOwner("web-0"), addresses: ["10.0.0.2", "10.0.0.4"] };
  update(machine, { reserved, released: ["10.0.0.2", "10.0.0.3"] });
  t.same(records(machine), [
    "nobody 10.0.0.3 0",
    "default web-0 eth0 10.0.0.2 0",
    "default web-0 eth0 10.0.0.4 0",
  ]);
});

test("what was released by nobody known is forgotten with the delay", async (t) => {
  const machine = machineWith();
  update(machine, { released: ["10.0.0.9"] });
  machine.wait(29_000);
  update(machine, { released: ["10.0.0.8"] });
  t.same(records(machine), ["nobody 10.0.0.9 29000", "nobody 10.0.0.8 0"]);
  machine.wait(2000);
  reserve(machine, "web-0", "10.0.0.7");
  t.same(records(machine), ["nobody 10.0.0.8 2000", "default web-0 eth0 10.0.0.7 0"]);
});

test("the latest 4096 are kept", async (t) => {
  const machine = machineWith();
  const names = Array.from({ length: 4096 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  update(machine, { released: names });
  update(machine, { released: ["10.0.0.0", "10.1.0.0"] });

  const found = records(machine);
  t.equal(found.length, 4096);
  t.same(
    ["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.1.0.0"].map((name) =>
      found.includes(`nobody ${name} 0`),
    ),
    [true, false, true, true],
  );
});

test("the file goes with the last record", async (t) => {
  const machine = machineWith();
  reserve(machine, "web-0", "10.0.0.2");
  machine.wait(30_000);
  reserve(machine, "web-0");
  t.notOk(machine.disk.has(FILE));
});

test("malformed lines are skipped, another form is none, and none is behind a link", async (t) => {
  const machine = machineWith();
  reserve(machine, "web-0", "10.0.0.2");
  const text = machine.disk.readFile(FILE, 1000);
  const nonsense = ["a b", "garbage 1 a b", "10.0.0.3 x a b", "10.0.0.3 1x", "10.0.0.3 1 a"];
  machine.disk.write(FILE, `${text}${nonsense.join("\n")}\n`);
  t.same(records(machine), ["default web-0 eth0 10.0.0.2 0"]);

  for (const other of ["", text.replace("reuse 1", "reuse 2"), text.slice(text.indexOf("\n"))]) {
    machine.disk.write(FILE, other);
    t.same(records(machine), []);
  }

  const linked = machineWith();
  linked.disk.putLink(location.stateDirectory, "/elsewhere");
  reserve(linked, "web-0", "10.0.0.2");
  t.same(records(linked), []);
});
