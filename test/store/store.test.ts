import { test } from "tap";
import type { HeldReservation } from "../../src/store/reservations.ts";
import { readStamp } from "../../src/store/stamp.ts";
import { isHeld, knownCounts, Store } from "../../src/store/store.ts";
import { type Interrupt, refuse } from "../system/interruption.ts";
import type { MemoryMachine } from "../system/memory-machine.ts";
import {
  address,
  attachment,
  filesOf,
  indexOf,
  location,
  machineWith,
  withStore,
} from "./fixtures.ts";

const c1 = attachment("c1");
const two = { "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" };

function names(held: readonly HeldReservation[]): readonly string[] {
  return held.map(({ name }) => name);
}

/** A reservation of `c1`. */
function ours(name: string): Parameters<Store["release"]>[0] {
  return { name, owner: { kind: "attachment", ...c1 } };
}

/** What `c1` holds, and whether the directory was searched for it. */
function look(
  machine: MemoryMachine,
  lockKind?: string,
): readonly [names: readonly string[], searched: boolean] {
  const process = machine.start({ lockKind });
  const held = withStore(process, (store) => store.heldBy(c1, "search"));
  const searched = process.calls.some(
    ({ operation, path }) => operation === "list" && path === location.directory,
  );
  return [names(held), searched];
}

test("the first call searches, the next one does not", (t) => {
  const machine = machineWith(two);
  machine.wait(5000);

  t.same(look(machine), [["10.0.0.2"], true]);
  t.same(look(machine), [["10.0.0.2"], false]);
  t.same(indexOf(machine), { "c1:eth0": "10.0.0.2", "c2:eth0": "10.0.0.3" });
  t.equal(knownCounts(machine.start(), location)?.reservations, 2);
  t.end();
});

test("a foreign change is answered by one search", (t) => {
  const changes: readonly (readonly [(machine: MemoryMachine) => void, readonly string[]])[] = [
    [({ disk }) => disk.put("/data/net/10.0.0.9", "c1\r\neth0"), ["10.0.0.2", "10.0.0.9"]],
    [({ disk }) => disk.unlink("/data/net/10.0.0.2"), []],
    [
      ({ disk }) => {
        disk.removeAll("/data/net");
        disk.put("/data/net/10.0.0.8", "c1\r\neth0");
      },
      ["10.0.0.8"],
    ],
  ];

  for (const [change, held] of changes) {
    const machine = machineWith(two);
    look(machine);
    machine.wait(5000);
    change(machine);
    // So old that no call at work could have made the entries.
    machine.wait(60_000);

    t.same(look(machine), [held, true]);
    t.same(look(machine), [held, false]);
  }
  t.end();
});

test("a write within the tick of the clock in which we searched does not go unseen", (t) => {
  const machine = machineWith(two);
  machine.disk.unlink("/data/net/10.0.0.2");
  t.same(look(machine), [[], true]);

  machine.disk.put("/data/net/10.0.0.4", "c1\r\neth0");

  t.same(look(machine)[0], ["10.0.0.4"]);
  t.end();
});

test("what the index lists is checked before it is used", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c1\r\neth0" });
  look(machine);
  machine.disk.write("/data/net/10.0.0.2", "c2\r\neth0");

  t.same(look(machine), [["10.0.0.3"], false]);
  t.end();
});

test("beside a lock that others do not take, each call searches until the directory was quiet", (t) => {
  const machine = machineWith(two);
  t.same(look(machine, "portable"), [["10.0.0.2"], true]);
  t.same(look(machine, "portable"), [["10.0.0.2"], true]);
  machine.wait(5000);
  t.same(look(machine, "portable"), [["10.0.0.2"], true]);
  t.same(look(machine, "portable"), [["10.0.0.2"], false], "the directory was quiet for long");

  withStore(machine.start({ lockKind: "portable" }), (store) => {
    store.release(ours("10.0.0.2"));
  });

  t.same(look(machine, "portable"), [[], true]);
  t.end();
});

test("a stamp that another left while we could prove nothing is taken away", (t) => {
  const machine = machineWith(two);
  look(machine);

  withStore(machine.start({ lockKind: "portable" }), (store) => {
    store.release(ours("10.0.0.2"));
    look(machine);
  });

  t.equal(readStamp(machine.start(), location), undefined);
  t.end();
});

test("a reservation that has another owner meanwhile stays", (t) => {
  const machine = machineWith(two);
  withStore(machine.start(), (store) => {
    const [held] = store.heldBy(c1, "search");
    machine.disk.write("/data/net/10.0.0.2", "c9\r\neth0");
    if (held !== undefined) store.release(held);
  });

  t.equal(filesOf(machine)["10.0.0.2"], "c9\r\neth0");
  t.equal(knownCounts(machine.start(), location)?.reservations, 2);
  t.end();
});

test("the stamp is away from before the first change until the end", (t) => {
  const machine = machineWith(two);
  look(machine);
  const store = new Store(machine.start(), location, true);
  t.ok(readStamp(machine.start(), location));

  store.announce(c1, ["10.0.0.2", "10.0.0.4"]);
  t.equal(readStamp(machine.start(), location), undefined);
  store.release(ours("10.0.0.2"));
  t.equal(readStamp(machine.start(), location), undefined);

  store.close();
  t.match(readStamp(machine.start(), location), { reservations: 1 });
  t.end();
});

test("reservations are counted through every change", (t) => {
  const machine = machineWith({ ...two, "10.0.0.5": "" });

  withStore(machine.start(), (store) => {
    const path = "/data/.host-local/net/new/7.0";
    machine.disk.put(path, "c1\r\neth0");
    t.equal(store.reserve(address("10.0.0.4"), c1, path), true);
    t.equal(store.reserve(address("10.0.0.3"), c1, path), false);
    store.release(ours("10.0.0.2"));
    store.release(ours("10.0.0.2"));
    t.equal(store.reclaim("10.0.0.5"), true);
    t.equal(store.reclaim("10.0.0.3"), false);
    t.equal(store.reclaim("10.0.0.9"), false);
  });

  t.same(filesOf(machine), { "10.0.0.3": "c2\r\neth0", "10.0.0.4": "c1\r\neth0" });
  t.equal(knownCounts(machine.start(), location)?.reservations, 2);
  t.end();
});

test("an index that cannot be kept fails no call, and leaves no stamp", (t) => {
  for (const operation of ["symlink", "unlink", "setModified", "readLink"] as const) {
    const interrupt: Interrupt = ({ operation: found, path }) =>
      found === operation && (path.startsWith(location.stateDirectory) || found === "setModified")
        ? { kind: "fail", code: "EIO" }
        : undefined;
    const machine = machineWith(two);

    const held = withStore(machine.start({ interrupt }), (store) => {
      const found = store.heldBy(c1, "search");
      store.note("c1:eth0" as Parameters<Store["note"]>[0], []);
      store.release(ours("10.0.0.2"));
      return found;
    });

    t.same(names(held), ["10.0.0.2"], operation);
    t.same(filesOf(machine), { "10.0.0.3": "c2\r\neth0" });
    t.same(look(machine)[0], []);
  }
  t.end();
});

test("a search that could not read every file is no proof of anything", (t) => {
  const machine = machineWith({ ...two, "10.0.0.9": "c1\r\neth0" });
  const refused = machine.start({ interrupt: refuse("readFile", "EIO", "/data/net/10.0.0.9") });

  withStore(refused, (store) => {
    t.same(names(store.heldBy(c1, "search")), ["10.0.0.2"]);
    t.match(store.unreadable, [/10\.0\.0\.9: input\/output error/]);
  });

  t.same(look(machine)[0], ["10.0.0.2", "10.0.0.9"]);
  t.end();
});

test("an index that is deleted during a call is not taken for a whole one", (t) => {
  const machine = machineWith(two);
  look(machine);

  withStore(machine.start(), (store) => {
    machine.disk.removeAll(location.owners);
    store.announce(attachment("c3"), ["10.0.0.4"]);
  });

  t.same(look(machine)[0], ["10.0.0.2"]);
  t.end();
});

test("whether an attachment holds anything is known without the lock, by index or search", (t) => {
  const machine = machineWith(two);
  t.equal(isHeld(machine.start(), location, c1), true);
  t.equal(isHeld(machine.start(), location, attachment("c9")), false);
  look(machine);
  const process = machine.start();
  t.equal(isHeld(process, location, c1), true);
  t.notOk(process.calls.some(({ operation }) => operation === "list"));
  t.end();
});

test("the count is known only while the stamp is current", (t) => {
  const machine = machineWith(two);
  t.equal(knownCounts(machine.start(), location)?.reservations, undefined);
  look(machine);
  t.equal(knownCounts(machine.start(), location)?.reservations, 2);
  t.equal(
    knownCounts(machine.start({ interrupt: refuse("status", "EIO") }), location)?.reservations,
    undefined,
  );
  machine.wait(1);
  machine.disk.put("/data/net/10.0.0.9", "");
  t.equal(knownCounts(machine.start(), location)?.reservations, undefined);
  t.end();
});

/** Reserves an address under the portable lock; returns whether the directory was searched for that. */
function addPortably(machine: MemoryMachine, name: string): boolean {
  const path = `/data/.host-local/net/new/${name}`;
  const owner = attachment(`of-${name}`);
  machine.disk.put(path, `${owner.containerId}\r\neth0`);
  const process = machine.start({ lockKind: "portable" });
  withStore(process, (store) => {
    store.announce(owner, [name]);
    store.reserve(address(name), owner, path);
  });
  return process.calls.some(
    ({ operation, path: listed }) => operation === "list" && listed === location.directory,
  );
}

test("beside the portable lock, the index is relied on once a search finds nothing of others for half a minute", (t) => {
  const machine = machineWith(two);
  look(machine, "portable");

  for (const [seconds, name, searches] of [
    [0, "10.0.0.4", true],
    [5, "10.0.0.5", true],
    [5, "10.0.0.6", true],
    [21, "10.0.0.7", true],
    [0, "10.0.0.8", false],
    [5, "10.0.0.9", false],
  ] as const) {
    machine.wait(seconds * 1000);
    t.equal(addPortably(machine, name), searches, name);
  }

  machine.disk.put("/data/net/10.0.0.99", "foreign\r\neth0");
  t.equal(addPortably(machine, "10.0.0.10"), true, "somebody else is at work");
  t.equal(addPortably(machine, "10.0.0.11"), true);
  t.end();
});
