import { test } from "tap";
import {
  dateBack,
  identityOf,
  isCurrent,
  isQuiet,
  isTrusted,
  othersAfter,
  readStamp,
  removeStamp,
  writeStamp,
} from "../../src/store/stamp.ts";
import type { System } from "../../src/system/system.ts";
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

/** The state of both directories as it is now. */
function stateOf(system: System): string {
  const paths = [location.directory, location.owners];
  return paths.map((path) => identityOf(system.status(path))).join(" ");
}

test("a stamp is read as it was written, from the text of a link", (t) => {
  const machine = indexed();
  const system = machine.start();
  const stamp = {
    state: stateOf(system),
    reservations: 7,
    ownerless: 1,
    isProven: false,
    others: 5,
  } as const;

  t.equal(writeStamp(system, location, stamp), true);

  t.same(readStamp(system, location), stamp);
  t.equal(machine.disk.readLink(PATH), `3 ${stamp.state} 7 1 open 5`);
  t.end();
});

test("anything but a stamp of this version is none", (t) => {
  for (const text of [
    "1 6 1 1 7 1 1 0 0 proven 0",
    "2 6 1 1 7 1 1 0 0 settled",
    "2 6 1 1 7 1 1 0 0 open",
    "3 6 1 1 7 1 1 0 0 proven",
    "3 6 1 1 7 1 1 0 0 settled 0",
    "3 6 1 1 7 1 1 0 proven 0",
    "3 6 1 1 7 1 1 -1 0 proven 0",
    `3 6 1 1 7 1 1 ${"9".repeat(400)} 0 proven 0`,
    `3 6 1 1 7 1 1 0 ${"9".repeat(16)} proven 0`,
    " 3 6 1 1 7 1 1 0 0 proven 0",
    "3 6 1 1 7 1 1 0 0 proven 0\n",
    "garbage",
  ]) {
    const machine = machineWith();
    machine.disk.putLink(PATH, text);
    t.equal(readStamp(machine.start(), location), undefined, JSON.stringify(text));
  }
  const file = machineWith();
  file.disk.put(PATH, "3 6 1 1 7 1 1 0 0 proven 0");
  t.equal(readStamp(file.start(), location), undefined, "a file");
  t.equal(readStamp(machineWith().start(), location), undefined, "a missing one");
  const refused = indexed().start({ interrupt: refuse("readLink", "EIO") });
  t.equal(readStamp(refused, location), undefined, "one that cannot be read");
  t.end();
});

test("a stamp never replaces another, and is removed also where there is none", (t) => {
  const machine = indexed();
  const system = machine.start();
  const stamp = {
    state: stateOf(system),
    reservations: 1,
    ownerless: 0,
    isProven: true,
    others: 5,
  } as const;
  writeStamp(system, location, stamp);

  t.equal(writeStamp(system, location, stamp), false);
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
    const stamp = {
      state: stateOf(system),
      reservations: 1,
      ownerless: 0,
      isProven: true,
      others: 5,
    } as const;
    t.equal(isCurrent(system, location, stamp), true);

    machine.wait(1);
    change(machine);

    t.equal(isCurrent(system, location, stamp), false);
  }
  t.end();
});

test("an index is relied on that is proven, or beside which nobody else is at work", (t) => {
  const stamp = { state: "", reservations: 0, ownerless: 0 };

  t.equal(isTrusted({ ...stamp, isProven: true, others: 5 }), true);
  t.equal(isTrusted({ ...stamp, isProven: false, others: "absent" }), true);
  t.equal(isTrusted({ ...stamp, isProven: false, others: 5 }), false, "however long ago");
  t.end();
});

test("others are absent when a search finds nothing of them for half a minute", (t) => {
  const machine = indexed();
  const system = machine.start();
  const recently = machine.time - 30_000;

  t.equal(othersAfter(system, recently, true), recently);
  t.equal(othersAfter(system, recently - 1, true), "absent");
  t.equal(othersAfter(system, "absent", true), "absent");
  t.equal(othersAfter(system, recently - 1, false), undefined);
  t.equal(othersAfter(system, "absent", false), undefined);
  t.equal(othersAfter(system, undefined, true), undefined, "they had just written");
  t.end();
});

test("a stamp from before the clock was set back is from now", (t) => {
  const machine = indexed();
  machine.disk.putLink(PATH, `3 6 1 1 7 1 1 0 0 open ${machine.time + 3_600_000}`);

  t.equal(readStamp(machine.start(), location)?.others, machine.time);
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

  const identity = dateBack(system, location.directory);

  t.equal(identityOf(system.status(location.directory)), identity);
  machine.disk.put("/data/net/10.0.0.3", "");
  t.not(identityOf(system.status(location.directory)), identity);
  t.end();
});

test("two processes that date the directory back within one millisecond give it different times", (t) => {
  const machine = indexed();
  machine.disk.grain = 4_000_000n;
  const first = machine.start({ processId: 7 });
  const identity = dateBack(first, location.directory);

  machine.disk.put("/data/net/10.0.0.3", "");
  dateBack(machine.start({ processId: 8 }), location.directory);

  t.not(identityOf(first.status(location.directory)), identity);
  t.end();
});

test("where times are kept in full seconds or cannot be set, it is not dated back", (t) => {
  const coarse = indexed();
  coarse.disk.resolution = 1_000_000_000n;
  t.equal(dateBack(coarse.start(), location.directory), undefined);

  const refused = indexed().start({ interrupt: refuse("setModified", "EPERM") });
  t.equal(dateBack(refused, location.directory), undefined);
  t.end();
});
