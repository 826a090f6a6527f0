import { test } from "tap";
import { fileIdAt } from "../../src/store/files/fingerprint.ts";
import { LockedNetwork, PossiblyLockedNetwork } from "../../src/store/locked-network.ts";
import { keyOf, keysOf, type OwnerKey } from "../../src/store/reservations/owner.ts";
import type { Reservation } from "../../src/store/reservations/reservation-file.ts";
import { readReuse } from "../../src/store/reuse/reuse-file.ts";
import { type Interrupt, refuse } from "../harness/interruption.ts";
import type { MemoryMachine, MemoryProcess } from "../harness/memory-machine.ts";
import {
  attachment,
  filesOf,
  HELD,
  isSealed,
  journalOf,
  location,
  machineWith,
  open,
  reserve,
  withNetwork,
} from "./fixtures.ts";

const c1 = attachment("c1");
const two = { "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" };

function names(held: readonly Reservation[]): readonly string[] {
  return held.map(({ name }) => name);
}

/** A reservation of `c1`. */
function ours(name: string): Parameters<LockedNetwork["release"]>[0] {
  return { name, owner: { kind: "attachment", ...c1 } };
}

/** What `c1` holds, and whether the directory was searched for it. */
function look(machine: MemoryMachine): readonly [names: readonly string[], searched: boolean] {
  const process = machine.start();
  const held = withNetwork(process, (network) => network.heldBy(c1, "search"));
  const searched = process.calls.some(
    ({ operation, path }) => operation === "readFiles" && path === location.directory,
  );
  return [names(held), searched];
}

test("an attachment of which the journal does not tell is searched for once", async (t) => {
  const machine = machineWith({ "10.0.0.3": "c2\r\neth0" });
  look(machine);
  withNetwork(machine.start(), (network) => {
    machine.disk.removeAll("/data/.host-local/net/journal");
    t.same(network.heldBy(attachment("c2"), "search").length, 1);
  });

  t.same(look(machine), [[], true]);
  t.same(look(machine), [[], false]);
});

test("a line that no call writes makes the journal one that is written anew", async (t) => {
  const machine = machineWith({ ...two, "10.0.0.4": "c1\r\neth0" });
  look(machine);
  const journal = `${location.stateDirectory}/journal`;
  const text = machine.disk.readFile(journal, 1e4);
  machine.disk.write(journal, text.replace("10.0.0.4", "10.0.0x4"));

  t.same(look(machine), [["10.0.0.2", "10.0.0.4"], true]);
  t.equal(machine.disk.readFile(journal, 1e4).includes("x"), false);
  t.same(look(machine), [["10.0.0.2", "10.0.0.4"], false]);
});

test("a reservation that has another owner meanwhile stays", async (t) => {
  const machine = machineWith(two);
  withNetwork(machine.start(), (network) => {
    const [held] = network.heldBy(c1, "search");
    machine.disk.write("/data/net/10.0.0.2", "c9\r\neth0");
    if (held !== undefined) network.release(held);
  });

  t.equal(filesOf(machine)["10.0.0.2"], "c9\r\neth0");
  t.ok(isSealed(open(machine.start())));
});

test("an unreadable file is an attachment's by the journal, without one, or if memory is short", async (t) => {
  const eth1 = attachment("c1", "eth1");
  const c2 = attachment("c2");
  for (const [content, code, of, expected] of [
    ["c1\r\neth0", "EIO", c1, 1],
    ["c1\r\neth0", "EIO", eth1, 0],
    ["c1\r\neth0", "EIO", c2, 0],
    ["c1", "EIO", eth1, 1],
    ["c1\r\neth0", "EMFILE", c2, 1],
    ["c1\r\neth0", "ENFILE", c2, 1],
    ["c1\r\neth0", "ENOMEM", c2, 1],
    ["c1\r\neth0", "EIO and journal", c2, 1],
  ] as const) {
    const machine = machineWith({ ...two, "10.0.0.2": content });
    look(machine);
    const [error = "", also] = code.split(" and ");
    const interrupt: Interrupt = ({ path }) =>
      path === "/data/net/10.0.0.2" || (also && path.endsWith(also))
        ? { kind: "fail", code: error }
        : undefined;
    withNetwork(machine.start({ interrupt }), (network) => {
      network.heldBy(attachment("none"), "search");
      const isMeant = (key: OwnerKey): boolean => keysOf(of).includes(key);
      const what = `${code} of ${content}, for ${of.containerId} ${of.interfaceName}`;
      t.equal(network.unreadableOf(isMeant).length, expected, what);
    });
  }
});

test("an address is reserved even if the file system says that it was taken, by this very call", async (t) => {
  const machine = machineWith();
  const temporary = `${location.temporaryDirectory}/7-0`;
  const path = `${location.directory}/10.0.0.4`;
  const meanwhile = (): void => machine.disk.link(temporary, path);
  const takesEffect: Interrupt = ({ operation }) =>
    operation === "link" ? { kind: "pause", meanwhile } : undefined;

  withNetwork(machine.start({ processId: 7, interrupt: takesEffect }), (network) => {
    network.heldBy(c1, "trust");
    t.equal(reserve(network, "10.0.0.4", c1), true);
  });

  t.same(journalOf(machine), { "c1 eth0": "10.0.0.4" });

  machine.disk.unlink(path);
  const unseen: Interrupt = (call) =>
    takesEffect(call) ?? refuse("linkStatus", "EIO", temporary)(call);
  withNetwork(machine.start({ processId: 7, interrupt: unseen }), (network) => {
    t.equal(reserve(network, "10.0.0.4", c1), false, "by whom is not known");
  });
});

test("what was written meanwhile is put back if not reclaimed, with hard links and without", async (t) => {
  for (const hardLinks of [true, false]) {
    const machine = machineWith(two);
    machine.disk.hardLinks = hardLinks;

    t.equal(
      withNetwork(machine.start(), (network) => network.removeEmpty("10.0.0.2")),
      false,
    );

    t.same(filesOf(machine), two);
  }

  const machine = machineWith(two);
  const meanwhile = (): void => machine.disk.put("/data/net/10.0.0.2", "c9\r\neth0");
  const disturbed = machine.start({
    interrupt: ({ operation }) => (operation === "link" ? { kind: "pause", meanwhile } : undefined),
  });
  withNetwork(disturbed, (network) => network.removeEmpty("10.0.0.2"));
  t.same(filesOf(machine), { ...two, "10.0.0.2": "c9\r\neth0" }, "not in place of another");
});

const gone = { inode: "70", path: "/run/netns/gone", isPodSandbox: true };

test("nothing is recorded where a file's time cannot be its own", async (t) => {
  const coarse = machineWith();
  coarse.disk.resolution = 1_000_000_000n;
  for (const [machine, interrupt] of [
    [machineWith(), refuse("setModified", "EPERM", `${location.temporaryDirectory}/7-0`)],
    [machineWith(), refuse("linkStatus", "EIO", "/data/net/10.0.0.4")],
    [coarse, undefined],
  ] as const) {
    machine.disk.makeDirectories(location.temporaryDirectory);
    withNetwork(machine.start({ processId: 7, interrupt }), (network) => {
      t.ok(reserve(network, "10.0.0.4", c1, gone));
    });
    t.same(journalOf(machine), { "c1 eth0": "10.0.0.4" });
  }
});

test("what a call releases is noted for later ones, but for what it has reserved itself", async (t) => {
  const machine = machineWith(two);
  const network = new LockedNetwork(open(machine.start()), HELD, { delay: 30, sticky: undefined });
  for (const own of ["10.0.0.4", "10.0.0.5"]) reserve(network, own, c1);
  for (const name of ["10.0.0.2", "10.0.0.4"]) network.release(ours(name));
  network.close();

  t.same(
    readReuse(open(machine.start())).map((one) => one.address),
    ["10.0.0.2"],
  );
});

test("a dead reservation is removed only while its file is the recorded one, with that owner", async (t) => {
  const key = keyOf(c1);
  for (const [meanwhile, removed] of [
    [undefined, true],
    // The same attachment again: another file.
    ["c1\r\neth0", false],
    ["c9\r\neth0", false],
  ] as const) {
    const machine = machineWith(two);
    const file = fileIdAt(machine.start(), "/data/net/10.0.0.2");
    if (meanwhile !== undefined) {
      machine.disk.unlink("/data/net/10.0.0.2");
      // A removed file's number is used again at once, here by this one.
      machine.disk.put("/data/net/other", "");
      machine.disk.put("/data/net/10.0.0.2", meanwhile);
      machine.disk.unlink("/data/net/other");
    }
    const dead = { name: "10.0.0.2", key, file };
    const result = withNetwork(machine.start(), (network) => network.reclaimDead(dead));
    t.equal(result, removed, `${meanwhile}`);
    const left = meanwhile === undefined ? {} : { "10.0.0.2": meanwhile };
    t.same(filesOf(machine), { "10.0.0.3": "c2\r\neth0", ...left });
  }
});

test("a file with number and time of a dead reservation stays if another owner's, or unreadable", async (t) => {
  for (const [owner, refused] of [
    ["c9", undefined],
    ["c1", "readFile"],
    ["c1", "linkStatus"],
  ] as const) {
    const machine = machineWith(two);
    const file = fileIdAt(machine.start(), "/data/net/10.0.0.2");
    const dead = { name: "10.0.0.2", key: keyOf(attachment(owner)), file };
    const interrupt = refused && refuse(refused, "EIO");
    const process = machine.start({ interrupt });
    t.equal(
      withNetwork(process, (network) => network.reclaimDead(dead)),
      false,
    );
    t.same(filesOf(machine), two, refused ?? owner);
  }
});

/** How often a process has read all reservations. */
function searches({ calls }: MemoryProcess): number {
  return calls.filter(({ operation }) => operation === "readFiles").length;
}

test("a reservation is released also where it cannot be read any more", async (t) => {
  const machine = machineWith(two);
  const interrupt = refuse("readFile", "EIO", "/data/net/10.0.0.2");

  withNetwork(machine.start({ interrupt }), (network) => network.release(ours("10.0.0.2")));

  t.same(Object.keys(filesOf(machine)), ["10.0.0.3"]);
});

test("what another process releases at the same time is not told as released by this call", async (t) => {
  const machine = machineWith(two);
  const path = "/data/net/10.0.0.2";
  const meanwhile = (): void => machine.disk.unlink(path);
  const process = machine.start({
    interrupt: (call) =>
      call.operation === "unlink" && call.path === path ? { kind: "pause", meanwhile } : undefined,
  });
  const network = new LockedNetwork(open(process), HELD);

  network.release(ours("10.0.0.2"));
  network.release({ name: "10.0.0.3", owner: { kind: "attachment", ...attachment("c2") } });
  network.close({ maxBytes: 1000, verb: "DEL", pod: "" });

  t.match(machine.disk.readFile(`${location.stateDirectory}/history`, 1000), / DEL 10\.0\.0\.3 /);
  t.notMatch(machine.disk.readFile(`${location.stateDirectory}/history`, 1000), /10\.0\.0\.2/);
});

test("without the lock nothing is noted for later calls", async (t) => {
  const machine = machineWith(two);
  const reuse = { delay: 30, sticky: undefined };
  const process = machine.start();
  const network = new PossiblyLockedNetwork(open(process), undefined, reuse);

  network.release(ours("10.0.0.2"));
  network.close();

  t.equal(searches(process), 0);
  t.same(Object.keys(filesOf(machine)), ["10.0.0.3"]);
  t.same(machine.disk.filesUnder(location.stateDirectory), {});
});

test("an empty file is reclaimed also on another file system, and not where it cannot be read", async (t) => {
  const machine = machineWith();
  machine.disk.mount(location.directory);
  for (const name of ["10.0.0.2", "10.0.0.3"]) machine.disk.put(`/data/net/${name}`, "");
  look(machine);
  const reclaim = (interrupt?: Interrupt): boolean =>
    withNetwork(machine.start({ interrupt }), (network) => network.removeEmpty("10.0.0.2"));

  t.equal(reclaim(refuse("readFile", "EIO", "/data/net/.host-local-1002-0")), false);
  t.same(Object.keys(filesOf(machine)), ["10.0.0.2", "10.0.0.3"]);
  t.equal(reclaim(), true);
  t.same(Object.keys(filesOf(machine)), ["10.0.0.3"]);
  t.ok(isSealed(open(machine.start())));
});
