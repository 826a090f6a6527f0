import { test } from "tap";
import { offsetIn } from "../../../src/ipam/address.ts";
import type { Range } from "../../../src/ipam/range.ts";
import { rangeOf } from "../../../src/ipam/range-set.ts";
import { ReservedAddresses } from "../../../src/store/reservations/reserved-addresses.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { address } from "../../ipam/parsed.ts";
import { machineWith, OPENING, open, rangeSet } from "../fixtures.ts";

function isReserved(reserved: ReservedAddresses, range: Range, offset: number): boolean {
  return reserved.nextFree(range, offset) !== offset;
}

test("an address is taken where a name says so, whatever the file holds", async (t) => {
  const set = rangeSet("10.0.0.0/28", "10.1.0.0/16");
  const names = ["10.0.0.2", "10.0.0.9", "10.0.0.14", "10.1.255.254", "10.2.0.1", "lock"];
  const machine = machineWith(Object.fromEntries(names.map((name) => [name, ""])));
  const process = machine.start();
  const files = open(process);
  const reserved = new ReservedAddresses(files);

  for (const [text, expected] of [
    ["10.0.0.1", false],
    ["10.0.0.2", true],
    ["10.0.0.8", false],
    ["10.0.0.9", true],
    ["10.0.0.10", false],
    ["10.0.0.14", true],
    ["10.1.0.2", false],
    ["10.1.255.254", true],
  ] as const) {
    const range = rangeOf(set, address(text));
    t.equal(range && isReserved(reserved, range, offsetIn(range, address(text))), expected, text);
  }
  t.same(
    process.calls.slice(OPENING).map(({ operation }) => operation),
    ["listAddresses"],
  );
});

test("it may be asked in any order", async (t) => {
  const set = rangeSet("10.0.0.0/28");
  const machine = machineWith({ "10.0.0.4": "", "10.0.0.5": "", "10.0.0.9": "" });
  const reserved = new ReservedAddresses(open(machine.start()));

  for (const last of [9, 4, 5, 3, 9, 10, 4, 13, 1, 5]) {
    t.equal(isReserved(reserved, set[0], last - 1), [4, 5, 9].includes(last), `10.0.0.${last}`);
  }
});

test("addresses far into a huge range are known, too", async (t) => {
  const set = rangeSet("2001:db8::/64");
  const machine = machineWith({ "2001:db8::5": "", "2001:db8::ffff:5": "" });
  const reserved = new ReservedAddresses(open(machine.start()));

  for (const [text, expected] of [
    ["2001:db8::5", true],
    ["2001:db8::ffff:5", true],
    ["2001:db8::ffff:25", false],
    ["2001:db8::1:0:5", false],
  ] as const) {
    t.equal(isReserved(reserved, set[0], offsetIn(set[0], address(text))), expected, text);
  }
});

test("the next free address is behind all that are reserved in a row, under whatever names", async (t) => {
  const names = ["10.0.0.3", "10.0.0.2", "10.0.0.5", "2001:db8::3", "2001:db8::2", "2001:DB8::2"];
  const machine = machineWith(Object.fromEntries(names.map((name) => [name, ""])));
  const reserved = new ReservedAddresses(open(machine.start()));
  for (const set of [rangeSet("10.0.0.0/29"), rangeSet("2001:db8::/125")]) {
    t.same(
      [0, 1, 2, 3].map((offset) => reserved.nextFree(set[0], offset)),
      [0, 3, 3, 3],
    );
  }
});

test("the next free address is found among any that are reserved", async (t) => {
  const [range] = rangeSet("10.0.0.0/27");
  const rows = [
    [],
    [1],
    [30],
    [1, 2, 3],
    [29, 30],
    [2, 3, 4, 7, 8, 12, 20],
    [5, 6, 7, 9, 10, 11, 30],
  ];
  for (const row of rows) {
    const machine = machineWith(Object.fromEntries(row.map((last) => [`10.0.0.${last}`, ""])));
    const reserved = new ReservedAddresses(open(machine.start()));
    for (let last = 1; last <= 30; last++) {
      let free = last;
      while (row.includes(free)) free++;
      t.equal(reserved.nextFree(range, last - 1), free - 1, `from 10.0.0.${last} beside ${row}`);
    }
  }
});

test("each range of a set has its own, in whatever order they are asked about", async (t) => {
  const set = rangeSet("2001:db8::/125", "2001:db8:1::/125");
  const machine = machineWith({ "2001:db8::3": "", "2001:db8:1::5": "" });
  const reserved = new ReservedAddresses(open(machine.start()));
  const [one, other] = set;
  if (other === undefined) throw new Error("there are two");

  for (const range of [one, other, one]) {
    const expected = range === one ? [3, 3, 4] : [2, 3, 5];
    t.same(
      [2, 3, 4].map((offset) => reserved.nextFree(range, offset)),
      expected,
    );
  }
});

test("those in parts of a range are counted", async (t) => {
  const names = ["10.0.0.2", "10.0.0.5", "10.0.0.6", "10.0.0.9", "10.0.1.5"];
  const machine = machineWith(Object.fromEntries(names.map((name) => [name, ""])));
  const [range] = rangeSet("10.0.0.0/28");
  const count = (...parts: readonly (readonly [first: string, last: string])[]): number =>
    new ReservedAddresses(open(machine.start())).countIn(
      range,
      parts.map(([first, last]) => ({ first: address(first), last: address(last) })),
    );

  t.equal(count(["10.0.0.5", "10.0.0.8"]), 2);
  t.equal(count(["10.0.0.1", "10.0.0.2"], ["10.0.0.6", "10.0.0.14"]), 3);
  t.equal(count(), 0);
});

test("nothing is reserved in an empty network, or before there is one", async (t) => {
  for (const machine of [machineWith(), new MemoryMachine()]) {
    const reserved = new ReservedAddresses(open(machine.start()));
    for (const [range] of [rangeSet("10.0.0.0/28"), rangeSet("2001:db8::/64")]) {
      t.equal(reserved.nextFree(range, 0), 0);
      t.equal(reserved.countIn(range, [range]), 0);
    }
  }
});
