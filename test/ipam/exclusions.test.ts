import fc from "fast-check";
import { test } from "tap";
import {
  type Address,
  type AddressRange,
  addressAt,
  formatAddressRange,
  isWithin,
  next,
} from "../../src/ipam/address.ts";
import { isExcluded, makeExclusions, without } from "../../src/ipam/exclusions.ts";
import { smallAddressRanges } from "./arbitraries.ts";
import { address, addressRange } from "./parsed.ts";

function made(...texts: readonly string[]): ReturnType<typeof makeExclusions> {
  return makeExclusions(texts.map(addressRange));
}

test("exclusions are sorted, and merged where they touch or overlap", async (t) => {
  const cases: readonly (readonly [written: readonly string[], joined: readonly string[]])[] = [
    [[], []],
    [["10.0.0.5"], ["10.0.0.5-10.0.0.5"]],
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

test("an address range without its exclusions is what remains", async (t) => {
  const cases: readonly (readonly [excluded: readonly string[], remaining: readonly string[]])[] = [
    [[], ["10.0.0.1-10.0.0.6"]],
    [["10.0.0.3"], ["10.0.0.1-10.0.0.2", "10.0.0.4-10.0.0.6"]],
    [["10.0.0.1"], ["10.0.0.2-10.0.0.6"]],
    [["10.0.0.6"], ["10.0.0.1-10.0.0.5"]],
    [["10.0.0.0-10.0.0.1", "10.0.0.6-10.0.0.9"], ["10.0.0.2-10.0.0.5"]],
    [["10.0.0.1-10.0.0.6"], []],
    [["10.0.0.0-10.0.0.255"], []],
    [
      ["10.0.0.2", "10.0.0.4"],
      ["10.0.0.1-10.0.0.1", "10.0.0.3-10.0.0.3", "10.0.0.5-10.0.0.6"],
    ],
    [["9.0.0.0-9.0.0.9", "11.0.0.0"], ["10.0.0.1-10.0.0.6"]],
    [["fd00::1", "::a00:3"], ["10.0.0.1-10.0.0.6"]],
  ];
  for (const [excluded, remaining] of cases) {
    t.strictSame(
      without(addressRange("10.0.0.1-10.0.0.6"), made(...excluded)).map(formatAddressRange),
      remaining,
      excluded.join(" "),
    );
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
