import { test } from "tap";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import {
  attachment,
  beforeBootIn,
  earlierOn,
  location,
  machineWith,
  open,
  reserve,
  withNetwork,
} from "../fixtures.ts";

const JOURNAL = `${location.stateDirectory}/journal`;
const OTHER_MACHINE = `${"f".repeat(32)}\n`;
const four = {
  "10.0.0.3": "c2\r\neth0",
  "10.0.0.2": "c1\r\neth0",
  "10.0.0.4": "c3",
  "10.0.0.5": "",
};

/** A machine of which the journal lists four reservations, in its first boot. */
function machineWithJournal(other: Partial<MemoryMachine> = {}): MemoryMachine {
  const machine = Object.assign(machineWith(four), other);
  // Only what is older than the seal is certain to be from then.
  machine.wait(1000);
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(5000);
  return machine;
}

function names(machine: MemoryMachine, interrupt?: Interrupt): readonly string[] {
  return [...beforeBootIn(open(machine.start({ interrupt })))];
}

/** A kernel that does not tell when it booted. */
const silent = refuse("readFile", "ENOENT", "/proc/stat");

/** The first call of a boot that keeps the journal. */
function renew(machine: MemoryMachine): void {
  withNetwork(machine.start(), (network) => network.allOwned());
}

/** A machine in its second boot, with a journal that lists two reservations from before it. */
function machineInSecondBoot(): MemoryMachine {
  const machine = machineWithJournal();
  machine.boot();
  renew(machine);
  return machine;
}

function listed(machine: MemoryMachine): readonly string[] {
  return earlierOn(machine).map(({ name }) => name);
}

test("nothing is from before this boot where that is not certain", async (t) => {
  const doubts: Readonly<Record<string, (machine: MemoryMachine) => void>> = {
    "another machine": (machine) => Object.assign(machine, { machineId: OTHER_MACHINE }),
    "a machine without an id": (machine) => Object.assign(machine, { machineId: undefined }),
    "a machine id that is not set yet": (machine) =>
      Object.assign(machine, { machineId: "uninitialized\n" }),
    "an unknown boot": (machine) => Object.assign(machine, { bootId: undefined }),
    "a boot id of another form": (machine) => Object.assign(machine, { bootId: "unknown\n" }),
    "a disk of several machines": (machine) => Object.assign(machine, { isShared: true }),
    "no journal": ({ disk }) => disk.unlink(JOURNAL),
    "the journal of an older version": ({ disk }) =>
      disk.write(JOURNAL, disk.readFile(JOURNAL, 1e6).replace("journal 8", "journal 7")),
  };
  for (const [what, doubt] of Object.entries(doubts)) {
    const first = machineWithJournal();
    first.boot();
    for (const machine of [first, machineInSecondBoot()]) {
      t.same(names(machine), ["10.0.0.2", "10.0.0.3"]);
      doubt(machine);
      t.same(names(machine), [], what);
      t.same(listed(machine), [], what);
    }
  }
});

test("a changed directory has only what the journal lists for its owner and is older", async (t) => {
  for (const interrupt of [undefined, silent]) {
    const machine = machineWithJournal();
    machine.disk.put("/data/net/10.0.0.6", "c6\r\neth0");
    t.same(names(machine, interrupt), []);
    machine.boot();
    t.same(names(machine, interrupt), ["10.0.0.2", "10.0.0.3"]);

    machine.disk.put("/data/net/10.0.0.3", "c2\r\neth0");
    t.same(names(machine, interrupt), ["10.0.0.2"], "written since");
    machine.disk.write("/data/net/10.0.0.2", "c9\r\neth0");
    machine.disk.setModified("/data/net/10.0.0.2", 0n);
    t.same(names(machine, interrupt), [], "of another owner");
  }
  const machine = machineWith(four);
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.disk.put("/data/net/10.0.0.6", "c6\r\neth0");
  machine.boot();
  t.same(names(machine), [], "all in one tick of the clock");
});

test("times do not count if the clock ran backwards; an unchanged directory needs none", async (t) => {
  const machine = machineWithJournal();
  machine.boot();
  const behind = (milliseconds: number): void => {
    machine.time -= milliseconds;
  };
  machine.try(() => {
    behind(3_600_000);
    t.same(names(machine), ["10.0.0.2", "10.0.0.3"], "unchanged");
  });
  machine.try(() => {
    machine.disk.put("/data/net/10.0.0.6", "");
    t.same(names(machine), ["10.0.0.2", "10.0.0.3"]);
    behind(60_000);
    t.same(names(machine), []);
  });
  behind(60_000);
  machine.disk.put("/data/net/10.0.0.6", "");
  behind(-120_000);
  t.same(names(machine, silent), [], "as the directory shows");
});

test("what was made while the clock was ahead, unchanged since the seal, is from before the boot", async (t) => {
  const machine = machineWith({});
  // By hours when the pods started; then it was set back, and a call has sealed the journal.
  machine.time += 7_200_000;
  for (const [name, content] of Object.entries(four))
    machine.disk.put(`/data/net/${name}`, content);
  machine.time -= 7_200_000;
  machine.wait(1000);
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(5000);
  t.same(names(machine), []);
  machine.boot();
  t.same(names(machine), ["10.0.0.2", "10.0.0.3"]);

  machine.time += 3_600_000;
  machine.disk.put("/data/net/10.0.0.3", "c2\r\neth0");
  machine.time -= 3_600_000;
  t.same(names(machine), [], "of a directory that was changed since, no date counts");
});

test("a machine that never had an id is not known to be the same", async (t) => {
  const machine = machineWithJournal({ machineId: undefined });
  machine.boot();
  t.same(names(machine), []);
});

test("what was held in the running boot is not from before it, as on a VM that was set back", async (t) => {
  const machine = machineInSecondBoot();
  const [one] = earlierOn(machine);
  machine.bootId = `${one?.boot}\n`;
  // The directory has changed since the seal of the boot that is undone, so no time counts.
  machine.disk.put("/data/net/10.0.0.6", "");
  machine.time -= 60_000;
  t.same(names(machine), []);
  t.same(listed(machine), []);
});

test("what was made anew in one boot is of that, and not of the one before", async (t) => {
  const machine = machineInSecondBoot();
  machine.wait(1000);
  machine.disk.unlink("/data/net/10.0.0.2");
  machine.disk.put("/data/net/10.0.0.2", four["10.0.0.2"]);
  machine.wait(1000);
  renew(machine);
  machine.boot();
  renew(machine);

  t.same(
    earlierOn(machine).map(({ name, boot }) => [name, boot.at(-1)]),
    [
      ["10.0.0.3", "1"],
      ["10.0.0.2", "2"],
    ],
  );
});

test("a line is valid while the file is the one that it names, in a journal written anew or not", async (t) => {
  const changes: Readonly<Record<string, (machine: MemoryMachine) => void>> = {
    gone: ({ disk }) => disk.unlink("/data/net/10.0.0.2"),
    "made anew": ({ disk }) => {
      disk.unlink("/data/net/10.0.0.2");
      disk.put("/data/net/10.0.0.2", four["10.0.0.2"]);
    },
    "written in place": ({ disk }) => disk.write("/data/net/10.0.0.2", four["10.0.0.2"]),
    "of another owner, dated back": ({ disk }) => {
      const { modified } = disk.status("/data/net/10.0.0.2");
      disk.write("/data/net/10.0.0.2", "c9\r\neth0");
      disk.setModified("/data/net/10.0.0.2", modified);
    },
    "a link": ({ disk }) => {
      disk.unlink("/data/net/10.0.0.2");
      disk.putLink("/data/net/10.0.0.2", "10.0.0.3");
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const machine = machineInSecondBoot();
    machine.wait(1000);
    change(machine);
    for (const step of [() => {}, () => renew(machine)]) {
      step();
      t.same(listed(machine), ["10.0.0.3"], what);
      t.same(names(machine), ["10.0.0.3"], what);
    }
  }
});

test("a file that is reserved again is of this boot, and the next boot has it from then", async (t) => {
  const machine = machineInSecondBoot();
  machine.wait(1000);
  withNetwork(machine.start(), (network) => {
    network.heldBy(attachment("c9"), "search");
    for (const dead of earlierOn(machine)) network.reclaimDead(dead);
    reserve(network, "10.0.0.2", attachment("c9"));
  });
  t.same(listed(machine), []);
  machine.wait(5000);
  machine.boot();
  renew(machine);
  t.same(
    earlierOn(machine).map(({ name, key, boot }) => [name, key, boot.at(-1)]),
    [["10.0.0.2", "c9 eth0", "2"]],
  );
});

test("what a later boot needs is on disk before a journal takes the place of another", async (t) => {
  const machine = machineWithJournal();
  const replaced = (interrupt?: Interrupt): readonly string[] => {
    const process = machine.start({ interrupt });
    withNetwork(process, (network) => network.allOwned());
    const words = process.calls.map(({ operation, path }) => `${operation} ${path}`);
    return words
      .filter((word) => /^sync|^rename .*journal/.test(word))
      .map((word) => word.slice(0, 6));
  };
  machine.boot();
  t.same(replaced(refuse("sync", "EIO")), ["sync /"], "it stays where that is not possible");
  t.same(names(machine), ["10.0.0.2", "10.0.0.3"]);
  t.same(replaced(), ["sync /", "rename"]);
  t.same(replaced(), [], "it is current");
});

test("a journal that was written anew and never sealed tells the next boot what was there", async (t) => {
  const machine = machineInSecondBoot();
  machine.disk.put("/data/net/10.0.0.6", "c6\r\neth0");
  machine.wait(1000);
  machine.disk.put("/data/net/10.0.0.7", "");
  // As a loss of power leaves it: the seal that follows is not on disk.
  withNetwork(machine.start({ interrupt: refuse("extendFile", "EIO") }), (network) =>
    network.allOwned(),
  );
  machine.wait(5000);
  machine.boot();
  t.same(names(machine), ["10.0.0.2", "10.0.0.3", "10.0.0.6"]);
});

test("a file changed since the kernel booted is not from before, whatever its times or boot id", async (t) => {
  const bootIdOfAnother = `${"2".repeat(8)}-2222-3333-4444-555555555555\n`;
  const covered = machineWithJournal();
  covered.bootId = bootIdOfAnother;
  t.same(names(covered), [], "a boot id that is mounted over");

  const restored = machineWithJournal();
  restored.boot();
  const { modified } = restored.disk.status("/data/net/10.0.0.2");
  restored.disk.unlink("/data/net/10.0.0.2");
  restored.disk.put("/data/net/10.0.0.2", four["10.0.0.2"]);
  restored.disk.setModified("/data/net/10.0.0.2", modified);
  t.same(names(restored), ["10.0.0.3"], "a backup that was restored since");

  const untold = machineWithJournal();
  untold.bootId = bootIdOfAnother;
  t.same(names(untold, silent), ["10.0.0.2", "10.0.0.3"]);
});
