import { test } from "tap";
import { noteReleased, readCooldown } from "../../../src/store/reuse/cooldown.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { machineWith, open } from "../fixtures.ts";

function cooling(machine: MemoryMachine, seconds?: number): Readonly<Record<string, number>> {
  return Object.fromEntries(readCooldown(open(machine.start()), seconds).ages);
}

/** Notes a release, as a call does that has read the file before. */
function note(machine: MemoryMachine, names: readonly string[], seconds?: number): void {
  const files = open(machine.start());
  noteReleased(files, names, readCooldown(files, seconds));
}

test("an address cools down for as long as is configured", async (t) => {
  const machine = machineWith();
  note(machine, ["10.0.0.2", "no-address"], 30);
  machine.wait(10_000);
  note(machine, ["FD00::3"], 30);

  t.same(cooling(machine, 30), { "10.0.0.2": 10_000, "fd00::3": 0 });
  t.same(cooling(machine, 5), { "fd00::3": 0 });
  t.same(cooling(machine), { "10.0.0.2": 10_000, "fd00::3": 0 }, "as the last call configured");
  machine.wait(20_000);
  t.same(cooling(machine, 30), { "fd00::3": 20_000 });
});

test("without a configured time only what is kept already is added to", async (t) => {
  const machine = machineWith();
  note(machine, ["10.0.0.2"]);
  t.same(cooling(machine, 30), {});

  note(machine, ["10.0.0.2"], 30);
  note(machine, ["10.0.0.3"]);
  t.same(cooling(machine), { "10.0.0.2": 0, "10.0.0.3": 0 });
});

test("a boot ends it, and so does a time in the future", async (t) => {
  const machine = machineWith();
  machine.wait(60_000);
  note(machine, ["10.0.0.2"], 30);
  const path = "/data/.host-local/net/released";
  const text = machine.disk.readFile(path, 1e6);
  machine.disk.write(path, text.replace(" 60000", " 99999999"));
  t.same(cooling(machine, 30), {});

  machine.disk.write(path, text);
  t.same(cooling(machine, 30), { "10.0.0.2": 0 });
  machine.boot();
  t.same(cooling(machine, 30), {});
});

test("nothing is noted where the boot is not known or the state directory may not be used", async (t) => {
  for (const prevent of [
    (machine: MemoryMachine) => Object.assign(machine, { bootId: undefined }),
    ({ disk }: MemoryMachine) => disk.putLink("/data/.host-local", "/elsewhere"),
  ]) {
    const machine = machineWith();
    prevent(machine);
    note(machine, ["10.0.0.2"], 30);
    t.same(cooling(machine, 30), {});
  }
});

test("the 4096 that were released last are kept, and a file of another form is none", async (t) => {
  const machine = machineWith();
  const names = Array.from({ length: 4096 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  note(machine, names, 30);
  note(machine, ["10.0.0.0", "10.1.0.0"], 30);

  const kept = cooling(machine);
  t.equal(Object.keys(kept).length, 4096);
  t.same(
    ["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.1.0.0"].map((name) => name in kept),
    [true, false, true, true],
  );
  const path = "/data/.host-local/net/released";
  machine.disk.write(path, machine.disk.readFile(path, 1e6).replace("released 1", "released 2"));
  t.same(cooling(machine, 30), {});
});
