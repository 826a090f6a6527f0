import fc from "fast-check";
import { test } from "tap";
import { type PodName, parsePodName } from "../../src/cni/pod.ts";
import {
  type Address,
  type AddressRange,
  addressAt,
  formatAddressRange,
  isWithin,
  next,
} from "../../src/ipam/address.ts";
import {
  type Excluded,
  exclusionsFor,
  exclusionsForAll,
  isExcluded,
  makeExclusions,
  partReservedFor,
  without,
} from "../../src/ipam/exclusions.ts";
import { smallAddressRanges } from "./arbitraries.ts";
import { address, addressRange, rangeSets } from "./parsed.ts";

function made(...texts: readonly string[]): ReturnType<typeof makeExclusions> {
  return makeExclusions(texts.map(addressRange));
}

test("exclusions are sorted, and merged where they touch or overlap", async (t) => {
  const cases: readonly (readonly [written: readonly string[], joined: readonly string[]])[] = [
    [[], []],
    [
      ["10.0.0.9", "10.0.0.5"],
      ["10.0.0.5-10.0.0.5", "10.0.0.9-10.0.0.9"],
    ],
    [["10.0.0.5", "10.0.0.5"], ["10.0.0.5-10.0.0.5"]],
    [["10.0.0.5", "10.0.0.6"], ["10.0.0.5-10.0.0.6"]],
    [["10.0.0.0-10.0.0.9", "10.0.0.3"], ["10.0.0.0-10.0.0.9"]],
    [["10.0.0.5-10.0.0.9", "10.0.0.0-10.0.0.5"], ["10.0.0.0-10.0.0.9"]],
    [
      ["fd00::1", "10.0.0.1"],
      ["10.0.0.1-10.0.0.1", "fd00::1-fd00::1"],
    ],
    [
      ["0.0.0.1", "::2"],
      ["0.0.0.1-0.0.0.1", "::2-::2"],
    ],
  ];
  for (const [written, joined] of cases) {
    t.strictSame(made(...written).map(formatAddressRange), joined, written.join(" "));
  }
});

test("the whole of a family can be excluded", async (t) => {
  const everything = made("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  t.strictSame(without(addressRange("fd00::1-fd00::9"), everything), []);
  t.equal(isExcluded(address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), everything), true);
  t.equal(isExcluded(address("10.0.0.1"), everything), false);
});

function addressesOf({ first, last }: AddressRange): readonly Address[] {
  const found: Address[] = [];
  for (let one = first; one.value <= last.value; one = next(one)) found.push(one);
  return found;
}

test("an address is excluded exactly where one of the ranges contains it", async (t) => {
  fc.assert(
    fc.property(fc.array(smallAddressRanges(4)), fc.nat(60), (ranges, value) => {
      const one = addressAt(4, BigInt(value));
      const expected = ranges.some((excluded) => isWithin(one, excluded));
      return isExcluded(one, makeExclusions(ranges)) === expected;
    }),
  );
  t.pass();
});

test("each address of a range is either excluded or remains, once", async (t) => {
  fc.assert(
    fc.property(
      smallAddressRanges(4),
      fc.array(smallAddressRanges(4), { maxLength: 5 }),
      (whole, ranges) => {
        const exclusions = makeExclusions(ranges);
        const remaining = without(whole, exclusions).flatMap(addressesOf);
        const expected = addressesOf(whole).filter((one) => !isExcluded(one, exclusions));
        t.strictSame(remaining, expected);
      },
    ),
    { numRuns: 200 },
  );
});

const [db, web]: readonly (PodName | undefined)[] = ["default/db", "default/web"].map(parsePodName);

/** 10.0.0.1 is excluded; 2, 3 and 8 are for db, 4 is for web, 5 for nobody. */
const excluded: Excluded = {
  exclusions: made("10.0.0.1-10.0.0.5", "10.0.0.8"),
  reserved: [
    { ...addressRange("10.0.0.2-10.0.0.3"), pod: db },
    { ...addressRange("10.0.0.4"), pod: web },
    { ...addressRange("10.0.0.5"), pod: undefined },
    { ...addressRange("10.0.0.8"), pod: db },
  ],
};

test("what is reserved is excluded for everybody but its pod", async (t) => {
  const shown = (exclusions: readonly AddressRange[]) => exclusions.map(formatAddressRange);
  const others = ["10.0.0.1-10.0.0.5", "10.0.0.8-10.0.0.8"];
  t.same(shown(exclusionsFor(excluded, db)), ["10.0.0.1-10.0.0.1", "10.0.0.4-10.0.0.5"]);
  t.same(shown(exclusionsFor(excluded, web)), [
    "10.0.0.1-10.0.0.3",
    "10.0.0.5-10.0.0.5",
    "10.0.0.8-10.0.0.8",
  ]);
  for (const other of [parsePodName("default/other"), undefined]) {
    t.same(shown(exclusionsFor(excluded, other)), others);
  }
  t.same(shown(exclusionsForAll(excluded)), ["10.0.0.1-10.0.0.1", "10.0.0.5-10.0.0.5"]);
});

test("a pod's part of a range set is what is reserved for it, with the members of each range", async (t) => {
  const [set] = rangeSets([
    [{ subnet: "10.0.0.0/30" }, { subnet: "10.0.0.8/29", rangeStart: "10.0.0.8" }],
  ]);
  if (set === undefined) throw new Error("no set");
  const part = partReservedFor(set, excluded.reserved, db);
  t.same(part?.map(formatAddressRange), ["10.0.0.2-10.0.0.2", "10.0.0.8-10.0.0.8"]);
  t.match(part, [
    { prefixLength: 30, gateway: address("10.0.0.1") },
    { prefixLength: 29, gateway: address("10.0.0.9") },
  ]);
  for (const other of [web, parsePodName("default/other"), undefined]) {
    t.equal(partReservedFor(set, excluded.reserved, other), undefined);
  }
});
