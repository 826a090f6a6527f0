import fc from "fast-check";
import { test } from "tap";
import { isWithin, next } from "../../src/ipam/address.ts";
import { rangeOf } from "../../src/ipam/range-set.ts";
import { refusalOf } from "../cni/refusal.ts";
import { smallAddressRanges } from "./arbitraries.ts";
import { address, rangeSet, rangeSets, type WrittenRange } from "./parsed.ts";

type Sets = readonly (readonly WrittenRange[])[];

function subnets(...texts: readonly string[]): readonly WrittenRange[] {
  return texts.map((subnet) => ({ subnet }));
}

test("an address belongs to the range that holds it", async (t) => {
  const set = rangeSet({ subnet: "192.168.0.0/24" }, { subnet: "172.16.1.0/24" });
  t.equal(rangeOf(set, address("192.168.0.55")), set[0]);
  t.equal(rangeOf(set, address("172.16.1.254")), set[1]);
  for (const outside of ["192.168.99.99", "192.168.0.0", "192.168.0.255", "::ffff:0:1"]) {
    t.equal(rangeOf(set, address(outside)), undefined, outside);
  }
});

test("sets, and ranges of one, overlap where they share an address, whatever their subnets", async (t) => {
  fc.assert(
    fc.property(smallAddressRanges(4), smallAddressRanges(4), (a, b) => {
      const written = ({ first, last }: typeof a): WrittenRange => ({
        subnet: "0.0.0.0/26",
        rangeStart: `0.0.0.${first.value}`,
        rangeEnd: `0.0.0.${last.value}`,
      });
      let shared = false;
      for (let one = a.first; one.value <= a.last.value; one = next(one)) {
        shared ||= isWithin(one, b);
      }
      for (const [one, other] of [
        [written(a), written(b)],
        [written(b), written(a)],
      ] as const) {
        for (const sets of [[[one], [other]], [[one, other]]]) {
          if (shared) t.match(refusalOf(() => rangeSets(sets)).message, "overlap");
          else t.doesNotThrow(() => rangeSets(sets));
        }
      }
    }),
  );
  t.doesNotThrow(() => rangeSets([subnets("0.0.0.0/24"), subnets("::/120")]), "the same bits");
});

test("before 0.3.0 there is one set of each family at most, and the version is shown as written", async (t) => {
  const two: Sets = [subnets("10.1.0.0/24"), subnets("10.2.0.0/24")];
  const twoOfSix: Sets = [subnets("fd00::/64"), subnets("10.1.0.0/24"), subnets("fd01::/64")];
  for (const sets of [two, twoOfSix]) {
    for (const versionText of ["0.1.0", "0.2.0", ""]) {
      t.equal(
        refusalOf(() => rangeSets(sets, { versionText })).message,
        `CNI version ${versionText} does not support more than 1 address per family`,
      );
    }
    t.doesNotThrow(() => rangeSets(sets));
  }
  const sets: Sets = [subnets("10.1.0.0/24", "10.2.0.0/24"), subnets("fd00::/64", "fd01::/64")];
  t.doesNotThrow(() => rangeSets(sets, { versionText: "0.2.0" }));
});

test("of several errors the first in the Go plugin's order is reported", async (t) => {
  const overlapping = subnets("10.0.0.0/24", "10.0.0.0/24");
  const old = { versionText: "0.2.0" };
  const cases: readonly (readonly [Sets, message: RegExp])[] = [
    [[subnets("10.0.0.0/24", "10.0.0.0/24", "10.0.0.5/24")], /host bits/],
    [[subnets("10.0.0.0/24", "fd00::/64", "10.0.0.5/24")], /mixed address families/],
    [[subnets("10.0.0.0/24", "10.0.0.0/24", "fd00::/64")], /mixed address families/],
    [[overlapping, []], /invalid range set 0/],
    [[subnets("10.0.0.0/24"), subnets("10.0.0.0/24"), []], /invalid range set 2: empty/],
    [[subnets("10.0.0.0/24"), subnets("10.0.0.0/24")], /does not support more than 1/],
  ];
  for (const [sets, message] of cases) {
    t.match(refusalOf(() => rangeSets(sets, old)).message, message, JSON.stringify(sets));
  }
});
