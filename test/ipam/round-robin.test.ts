import fc from "fast-check";
import { test } from "tap";
import { type Address, formatAddress, isWithin, next } from "../../src/ipam/address.ts";
import { makeExclusions } from "../../src/ipam/exclusions.ts";
import { isGateway } from "../../src/ipam/range.ts";
import type { RangeSet } from "../../src/ipam/range-set.ts";
import { candidates, capacityOf } from "../../src/ipam/round-robin.ts";
import { smallRangeSets } from "./arbitraries.ts";
import { address, addressRange, rangeSet, type WrittenRange } from "./parsed.ts";

/** The last parts of the addresses that are tried, in their order. */
function round(set: RangeSet, cursor?: string): string {
  const tried = candidates(set, cursor === undefined ? undefined : address(cursor), []);
  return [...tried].map(({ address }) => formatAddress(address)).join(" ");
}

test("candidates are in the Go plugin's order", async (t) => {
  const eight = { subnet: "10.0.0.0/29" };
  const middle = { ...eight, gateway: "10.0.0.4" };
  const two: readonly WrittenRange[] = [{ subnet: "10.0.0.0/30" }, { subnet: "10.0.1.0/30" }];
  const three = [...two, { subnet: "10.0.2.0/30" }];
  const whole: readonly WrittenRange[] = [
    { subnet: "192.168.1.0/30", rangeStart: "192.168.1.0", rangeEnd: "192.168.1.3" },
    { subnet: "192.168.2.0/30", rangeStart: "192.168.2.0", rangeEnd: "192.168.2.3" },
  ];
  type Case = readonly [set: readonly WrittenRange[], cursor: string | undefined, order: string];
  const cases: readonly Case[] = [
    [[{ subnet: "10.0.0.0/31" }], "10.0.0.0", "10.0.0.1 10.0.0.0"],
    [[{ subnet: "10.0.0.5/32" }], "10.0.0.5", "10.0.0.5"],
    [
      [{ subnet: "10.0.0.5/32" }, { subnet: "10.0.0.8/31" }],
      "10.0.0.8",
      "10.0.0.9 10.0.0.5 10.0.0.8",
    ],
    [[eight], undefined, "10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6"],
    [[eight], "10.0.0.3", "10.0.0.4 10.0.0.5 10.0.0.6 10.0.0.2 10.0.0.3"],
    [[eight], "10.0.0.1", "10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6"],
    [[middle], undefined, "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.5 10.0.0.6"],
    [[middle], "10.0.0.4", "10.0.0.5 10.0.0.6 10.0.0.1 10.0.0.2 10.0.0.3"],
    [two, undefined, "10.0.0.2 10.0.1.2"],
    [three, "10.0.1.2", "10.0.2.2 10.0.0.2 10.0.1.2"],
    [
      whole,
      "192.168.1.3",
      "192.168.2.0 192.168.2.2 192.168.2.3 192.168.1.0 192.168.1.2 192.168.1.3",
    ],
    [[{ ...eight, rangeStart: "10.0.0.1", rangeEnd: "10.0.0.1" }], undefined, ""],
    [[{ ...eight, rangeStart: "10.0.0.3", rangeEnd: "10.0.0.3" }], "10.0.0.3", "10.0.0.3"],
    [[{ subnet: "2001:db8::/126" }], "2001:db8::2", "2001:db8::3 2001:db8::2"],
    [
      [{ subnet: "255.255.255.252/30", rangeEnd: "255.255.255.255" }],
      "255.255.255.255",
      "255.255.255.254 255.255.255.255",
    ],
  ];
  for (const [set, cursor, order] of cases) {
    t.equal(round(rangeSet(...set), cursor), order, `${JSON.stringify(set)} after ${cursor}`);
  }
});

test("a cursor outside the set, or of another family, counts as none", async (t) => {
  const set = rangeSet({ subnet: "10.0.0.0/29" });
  for (const cursor of ["10.0.0.128", "10.0.0.0", "10.0.0.7", "9.9.9.9", "::a00:3"]) {
    t.equal(round(set, cursor), round(set), cursor);
  }
});

test("a range skips only its own gateway", async (t) => {
  const sibling = rangeSet(
    { subnet: "10.0.0.0/30" },
    { subnet: "10.0.1.0/30", gateway: "10.0.0.2" },
  );
  t.equal(round(sibling), "10.0.0.2 10.0.1.1 10.0.1.2");
});

test("a gateway behind a taken address is no candidate", async (t) => {
  const set = rangeSet({ subnet: "10.0.0.0/29", gateway: "10.0.0.4" });
  const nextFree = (_: unknown, offset: number): number => (offset === 2 ? 3 : offset);
  const found = [...candidates(set, undefined, [], { nextFree })];
  t.same(
    found.map(({ address }) => formatAddress(address)),
    ["10.0.0.1", "10.0.0.2", "10.0.0.5", "10.0.0.6"],
  );
});

test("the next address is found at once, however large the range", async (t) => {
  const set = rangeSet({ subnet: "fd00::/16" });
  const [first] = candidates(set, address("fd00:ffff::ffff"), []);
  t.equal(first && formatAddress(first.address), "fd00:ffff::1:0");
});

test("each usable address is a candidate once, and the cursor's own is the last", async (t) => {
  fc.assert(
    fc.property(smallRangeSets, fc.nat(1023), fc.boolean(), (set, at, withCursor) => {
      const everywhere = set.flatMap((range) => {
        const all: Address[] = [];
        for (let one = range.first; isWithin(one, range); one = next(one)) all.push(one);
        return all.filter((one) => !isGateway(one, range));
      });
      const cursor = withCursor ? everywhere[at % everywhere.length] : undefined;
      const visited = [...candidates(set, cursor, [])].map((candidate) => candidate.address);

      const sorted = (list: readonly Address[]): readonly string[] =>
        list.map(formatAddress).sort();
      t.strictSame(sorted(visited), sorted(everywhere));
      if (cursor !== undefined) t.strictSame(visited.at(-1), cursor);
    }),
    { numRuns: 100 },
  );
});

test("the capacity of the ranges is the number of candidates", async (t) => {
  const excludable = fc.array(fc.tuple(fc.nat(3), fc.nat(31), fc.nat(5)), { maxLength: 4 });
  fc.assert(
    fc.property(smallRangeSets, excludable, (set, excluded) => {
      const exclusions = makeExclusions(
        excluded.map(([third, first, length]) =>
          addressRange(`10.0.${third}.${first}-10.0.${third}.${first + length}`),
        ),
      );
      const capacity = set.reduce((sum, range) => sum + capacityOf(range, exclusions), 0n);
      return capacity === BigInt([...candidates(set, undefined, exclusions)].length);
    }),
  );
  t.pass();
});
