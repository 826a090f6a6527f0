import { test } from "tap";
import {
  dateBack,
  identityOf,
  isCurrent,
  isQuiet,
  readStamp,
  removeStamp,
  writeStamp,
} from "../../src/store/stamp.ts";
import { refuse } from "../system/interruption.ts";
import type { MemoryMachine } from "../system/memory-machine.ts";
import { location, machineWith } from "./fixtures.ts";

const PATH = "/data/.host-local/net/stamp";

/** A machine with the directory of the index. */
function indexed(): MemoryMachine {
  const machine = machineWith();
  machine.disk.makeDirectories(location.owners);
  return machine;
}

test("a stamp is read as it was written, from the text of a link", (t) => {
  for (const settled of [true, false]) {
    const machine = indexed();
    const system = machine.start();
    const state = [location.directory, location.owners]
      .map((path) => identityOf(system.status(path)))
      .join(" ");

    writeStamp(system, location, { reservations: 7, ownerless: 1, settled });

    t.same(readStamp(system, location), { state, reservations: 7, ownerless: 1, settled });
    t.equal(machine.disk.readLink(PATH), `2 ${state} 7 1 ${settled ? "settled" : "open"}`);
  }
  t.end();
});

test("anything but a stamp of this version is none", (t) => {
  for (const text of [
    "1 6 1 1 7 1 1 0 0 settled",
    "2 6 1 1 7 1 1 0 0 maybe",
    "2 6 1 1 7 1 1 0 settled",
    "2 6 1 1 7 1 1 -1 0 settled",
    `2 6 1 1 7 1 1 ${"9".repeat(400)} 0 settled`,
    `2 6 1 1 7 1 1 0 ${"9".repeat(16)} settled`,
    " 2 6 1 1 7 1 1 0 0 settled",
    "2 6 1 1 7 1 1 0 0 settled\n",
    "garbage",
  ]) {
    const machine = machineWith();
    machine.disk.putLink(PATH, text);
    t.equal(readStamp(machine.start(), location), undefined, JSON.stringify(text));
  }
  const file = machineWith();
  file.disk.put(PATH, "2 6 1 1 7 1 1 0 0 settled");
  t.equal(readStamp(file.start(), location), undefined, "a file");
  t.equal(readStamp(machineWith().start(), location), undefined, "a missing one");
  const refused = indexed().start({ interrupt: refuse("readLink", "EIO") });
  t.equal(readStamp(refused, location), undefined, "one that cannot be read");
  t.end();
});

test("a stamp never replaces another, and is removed also where there is none", (t) => {
  const machine = indexed();
  const system = machine.start();
  const counts = { reservations: 1, ownerless: 0, settled: true };
  writeStamp(system, location, counts);

  t.throws(() => writeStamp(system, location, counts), { code: "EEXIST" });
  removeStamp(system, location);
  t.equal(readStamp(system, location), undefined);
  t.doesNotThrow(() => removeStamp(system, location));
  t.doesNotThrow(() => removeStamp(machineWith().start(), location));
  t.throws(() => removeStamp(machine.start({ interrupt: refuse("unlink", "EIO") }), location), {
    code: "EIO",
  });
  t.end();
});

test("a stamp is current until a name comes or goes, or the directory is another", (t) => {
  const changes = [
    (machine: MemoryMachine) => machine.disk.put("/data/net/10.0.0.9", ""),
    (machine: MemoryMachine) => machine.disk.unlink("/data/net/10.0.0.2"),
    (machine: MemoryMachine) => {
      machine.disk.removeAll("/data/net");
      machine.disk.makeDirectories("/data/net");
    },
    (machine: MemoryMachine) => machine.disk.setModified("/data/net", 1n),
    (machine: MemoryMachine) => machine.disk.unlink(`${location.owners}/c1:eth0`),
    (machine: MemoryMachine) => machine.disk.removeAll(location.owners),
  ];

  for (const change of changes) {
    const machine = indexed();
    machine.disk.put("/data/net/10.0.0.2", "");
    const system = machine.start();
    machine.disk.putLink(`${location.owners}/c1:eth0`, "10.0.0.2");
    writeStamp(system, location, { reservations: 1, ownerless: 0, settled: true });
    const stamp = readStamp(system, location);
    if (stamp === undefined) throw new Error("there is no stamp");
    t.equal(isCurrent(system, location, stamp), true);

    machine.wait(1);
    change(machine);

    t.equal(isCurrent(system, location, stamp), false);
  }
  t.end();
});

test("a directory is quiet when it was written more than three seconds ago", (t) => {
  const machine = indexed();
  const system = machine.start();
  const status = system.status(location.directory);

  machine.wait(3000);
  t.equal(isQuiet(system, status), false);
  machine.wait(1);
  t.equal(isQuiet(system, status), true);
  machine.wait(-10_000);
  t.equal(isQuiet(system, status), false, "the clock was set back");
  t.end();
});

test("a directory is dated back to a time that no write within the same tick gives it again", (t) => {
  const machine = indexed();
  machine.disk.grain = 4_000_000n;
  machine.disk.put("/data/net/10.0.0.2", "");
  const system = machine.start();

  t.equal(dateBack(system, location), true);

  const identity = identityOf(system.status(location.directory));
  machine.disk.put("/data/net/10.0.0.3", "");
  t.not(identityOf(system.status(location.directory)), identity);
  t.end();
});

test("two processes that date the directory back within one millisecond give it different times", (t) => {
  const machine = indexed();
  machine.disk.grain = 4_000_000n;
  const first = machine.start({ processId: 7 });
  dateBack(first, location);
  const identity = identityOf(first.status(location.directory));

  machine.disk.put("/data/net/10.0.0.3", "");
  dateBack(machine.start({ processId: 8 }), location);

  t.not(identityOf(first.status(location.directory)), identity);
  t.end();
});

test("where times are kept in full seconds or cannot be set, it is not dated back", (t) => {
  const coarse = indexed();
  coarse.disk.resolution = 1_000_000_000n;
  t.equal(dateBack(coarse.start(), location), false);

  const refused = indexed().start({ interrupt: refuse("setModified", "EPERM") });
  t.equal(dateBack(refused, location), false);
  t.end();
});
