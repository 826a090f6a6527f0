import { test } from "tap";
import { parseInterfaceName } from "../../../src/cni/attachment.ts";
import {
  readRemembered,
  type StickyChange,
  type StickyOwner,
  stickyOwnerOf,
  updateRemembered,
} from "../../../src/store/reuse/sticky.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { location, machineWith, open } from "../fixtures.ts";

const FILE = `${location.stateDirectory}/sticky`;
const eth0 = parseInterfaceName("eth0");

/** The interface `eth0` of a pod in the namespace `default`. */
function owner(name: string): StickyOwner {
  const found = stickyOwnerOf(["default", name], eth0);
  if (found === undefined) throw new Error(`${name} is no owner`);
  return found;
}

/** Notes a change as a call does. */
function update(machine: MemoryMachine, change: Partial<StickyChange>, seconds?: number): void {
  const files = open(machine.start());
  const all = { reserved: undefined, released: [], ...change };
  updateRemembered(files, readRemembered(files), all, seconds);
}

/** A pod has got addresses. */
function reserve(machine: MemoryMachine, name: string, ...addresses: readonly string[]): void {
  update(machine, { reserved: { owner: owner(name), addresses } }, 60);
}

/** Who is remembered, with the address and for how many milliseconds, the oldest first. */
function remembered(machine: MemoryMachine): readonly string[] {
  return readRemembered(open(machine.start())).map(
    ({ owner, address, time }) => `${owner} ${address} ${machine.time - time}`,
  );
}

test("stickyOwnerOf is somebody's interface, where all values are known and can be written", async (t) => {
  t.equal(owner("web-0"), "default web-0 eth0");
  t.equal(stickyOwnerOf(["52:54:00:12:34:56"], eth0), "52:54:00:12:34:56 eth0");
  t.not(stickyOwnerOf(["a/b", "c"], eth0), stickyOwnerOf(["a", "b/c"], eth0));
  for (const text of ["", "a b", "a\n", "é", "x".repeat(254)]) {
    t.equal(stickyOwnerOf(["default", text], eth0), undefined);
    t.equal(stickyOwnerOf([text, "web-0"], eth0), undefined);
  }
  t.equal(stickyOwnerOf(Array(4).fill("x".repeat(253)), eth0), undefined);
});

test("updateRemembered notes what a pod has got, in place of what it had", async (t) => {
  const machine = machineWith();
  reserve(machine, "web-0", "10.0.0.2", "fd00::2");
  machine.wait(1000);
  reserve(machine, "web-1", "10.0.0.3");
  t.same(remembered(machine), [
    "default web-0 eth0 10.0.0.2 1000",
    "default web-0 eth0 fd00::2 1000",
    "default web-1 eth0 10.0.0.3 0",
  ]);
  t.equal(machine.disk.modeOf(FILE), 0o600);

  reserve(machine, "web-0", "10.0.0.4");
  t.same(remembered(machine), ["default web-1 eth0 10.0.0.3 0", "default web-0 eth0 10.0.0.4 0"]);
});

test("updateRemembered gives an address to the pod that got it last", async (t) => {
  const machine = machineWith();
  reserve(machine, "web-0", "10.0.0.2");

  reserve(machine, "web-1", "10.0.0.2");

  t.same(remembered(machine), ["default web-1 eth0 10.0.0.2 0"]);
});

test("updateRemembered lets the time of an address begin when it is released", async (t) => {
  const machine = machineWith();
  reserve(machine, "web-0", "10.0.0.2");
  reserve(machine, "web-1", "10.0.0.3");
  machine.wait(30_000);

  update(machine, { released: ["10.0.0.2", "10.9.9.9"] }, 60);

  t.same(remembered(machine), [
    "default web-1 eth0 10.0.0.3 30000",
    "default web-0 eth0 10.0.0.2 0",
  ]);
});

test("updateRemembered forgets what is over, but nothing that the pod still has or that was released now", async (t) => {
  const prepare = (): MemoryMachine => {
    const machine = machineWith({ "10.0.0.3": "c1\r\neth0" });
    for (const last of [2, 3, 4]) reserve(machine, `web-${last}`, `10.0.0.${last}`);
    machine.wait(60_000);
    return machine;
  };
  const kept = "default web-3 eth0 10.0.0.3 60000";
  const released = "default web-4 eth0 10.0.0.4 0";

  const known = prepare();
  update(known, { released: ["10.0.0.4"] }, 60);
  t.same(remembered(known), [kept, released]);

  const longer = prepare();
  update(longer, { released: ["10.0.0.4"] }, 61);
  t.same(remembered(longer), ["default web-2 eth0 10.0.0.2 60000", kept, released]);

  const unknown = prepare();
  update(unknown, { released: ["10.0.0.4"] });
  t.same(remembered(unknown), remembered(longer), "where the time is not known, all are kept");
});

test("updateRemembered writes nothing where nothing that is remembered was released", async (t) => {
  const machine = machineWith();
  update(machine, { released: ["10.0.0.2"] }, 60);
  t.notOk(machine.disk.has(FILE));

  reserve(machine, "web-0", "10.0.0.2");
  const { inode } = machine.disk.status(FILE);
  update(machine, { released: ["10.0.0.3"] }, 60);
  t.equal(machine.disk.status(FILE).inode, inode);
});

test("updateRemembered keeps the latest 512", async (t) => {
  const machine = machineWith();
  const addresses = Array.from({ length: 513 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);

  reserve(machine, "web-0", ...addresses);

  const kept = readRemembered(open(machine.start())).map(({ address }) => address);
  t.same(kept, addresses.slice(1));
});

test("updateRemembered removes the file with the last one, and fails where it cannot write", async (t) => {
  const machine = machineWith();
  reserve(machine, "web-0", "10.0.0.2");
  const refused = open(machine.start({ interrupt: refuse("rename", "EIO") }));
  const gone = { reserved: { owner: owner("web-0"), addresses: [] }, released: [] };
  const other = { reserved: { owner: owner("web-0"), addresses: ["10.0.0.3"] }, released: [] };

  t.throws(() => updateRemembered(refused, readRemembered(refused), other, 60), { code: "EIO" });
  t.same(remembered(machine), ["default web-0 eth0 10.0.0.2 0"]);
  update(machine, gone, 60);
  t.notOk(machine.disk.has(FILE));
});

test("readRemembered skips what is malformed, and reads no other form", async (t) => {
  const machine = machineWith();
  reserve(machine, "web-0", "10.0.0.2");
  const text = machine.disk.readFile(FILE, 1000);
  const nonsense = [
    "a b",
    "a b eth0 garbage 1",
    "a b eth0 10.0.0.3 x",
    "a b eth0 10.0.0.3 1x",
    " a b eth0 10.0.0.3 1",
    "eth0 10.0.0.3 1",
  ];

  machine.disk.write(FILE, `${text}${nonsense.join("\n")}\n`);
  t.same(remembered(machine), ["default web-0 eth0 10.0.0.2 0"]);

  for (const other of ["", text.replace("sticky 1", "sticky 2"), text.slice(text.indexOf("\n"))]) {
    machine.disk.write(FILE, other);
    t.same(remembered(machine), []);
  }
});

test("readRemembered has nothing where the state directory may not be used, and updateRemembered does nothing", async (t) => {
  const machine = machineWith();
  machine.disk.putLink(location.stateDirectory, "/elsewhere");

  reserve(machine, "web-0", "10.0.0.2");

  t.same(remembered(machine), []);
  t.same(machine.disk.list("/data/.host-local"), ["net"]);
});
