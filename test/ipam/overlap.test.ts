import fc from "fast-check";
import { test } from "tap";
import { type AddressRange, addressAt } from "../../src/ipam/address.ts";
import { firstOverlap } from "../../src/ipam/overlap.ts";
import { families, smallAddressRanges } from "./arbitraries.ts";

const anyRanges = families.chain(smallAddressRanges);

test("the pair is the first that comparing each with all later ones finds", async (t) => {
  fc.assert(
    fc.property(fc.array(anyRanges, { maxLength: 8 }), (ranges) => {
      t.same(firstOverlap(ranges.map((range) => [range])), naively(ranges.map((one) => [one])));
    }),
  );
});

test("groups of several ranges are compared as one", async (t) => {
  const group = fc.array(anyRanges, { maxLength: 4 }).map(apart);
  fc.assert(
    fc.property(fc.array(group, { maxLength: 5 }), (groups) => {
      t.same(firstOverlap(groups), naively(groups));
    }),
  );
});

test("a hundred thousand ranges are compared at once", async (t) => {
  const ranges = Array.from({ length: 100_000 }, (_, at) => rangeAt(2 * at));
  const began = performance.now();

  t.equal(firstOverlap(ranges.map((range) => [range])), undefined);
  t.same(firstOverlap([...ranges, rangeAt(0)].map((range) => [range])), [0, 100_000]);
  t.same(firstOverlap(ranges.map(() => [rangeAt(0)])), [0, 1]);

  // Comparing each with each took a minute.
  t.ok(performance.now() - began < 10_000);
});

function rangeAt(value: number): AddressRange {
  return { first: addressAt(4, BigInt(value)), last: addressAt(4, BigInt(value)) };
}

/** The ranges of a list that share no address with one before them. */
function apart(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const kept: AddressRange[] = [];
  for (const range of ranges) {
    if (!kept.some((other) => overlap(range, other))) kept.push(range);
  }
  return kept;
}

function naively(
  groups: readonly (readonly AddressRange[])[],
): readonly [number, number] | undefined {
  for (const [earlier, group] of groups.entries()) {
    for (const [later, other] of groups.entries()) {
      if (later > earlier && group.some((a) => other.some((b) => overlap(a, b)))) {
        return [earlier, later];
      }
    }
  }
  return undefined;
}

function overlap(a: AddressRange, b: AddressRange): boolean {
  return (
    a.first.family === b.first.family &&
    a.first.value <= b.last.value &&
    b.first.value <= a.last.value
  );
}
