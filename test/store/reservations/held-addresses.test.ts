import { test } from "tap";
import { HeldAddresses } from "../../../src/store/reservations/held-addresses.ts";
import { machineWith, open, rangeSet } from "../fixtures.ts";

test("the next free address is behind all that are held in a row, under whatever names", async (t) => {
  const names = ["10.0.0.3", "10.0.0.2", "10.0.0.5", "2001:db8::3", "2001:db8::2", "2001:DB8::2"];
  const machine = machineWith(Object.fromEntries(names.map((name) => [name, ""])));
  const held = new HeldAddresses(open(machine.start()));
  for (const set of [rangeSet("10.0.0.0/29"), rangeSet("2001:db8::/125")]) {
    t.same(
      [0, 1, 2, 3].map((offset) => held.nextFree(set[0], offset)),
      [0, 3, 3, 3],
    );
  }
});

test("each range of a set has its own, in whatever order they are asked about", async (t) => {
  const set = rangeSet("2001:db8::/125", "2001:db8:1::/125");
  const machine = machineWith({ "2001:db8::3": "", "2001:db8:1::5": "" });
  const held = new HeldAddresses(open(machine.start()));
  const [one, other] = set;
  if (other === undefined) throw new Error("there are two");

  for (const range of [one, other, one]) {
    const expected = range === one ? [3, 3, 4] : [2, 3, 5];
    t.same(
      [2, 3, 4].map((offset) => held.nextFree(range, offset)),
      expected,
    );
  }
});
