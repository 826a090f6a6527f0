/** Counting addresses, by known facts. */

import { test } from "tap";
import { type Exclusions, makeExclusions } from "../../../src/ipam/exclusions.ts";
import { addressRangeOf } from "../../../src/ipam/prefix.ts";
import type { RangeSet } from "../../../src/ipam/range-set.ts";
import {
  countRanges,
  formatRange,
  permille,
  podsFor,
} from "../../../src/operator/judgements/usage.ts";
import type { HeldAddress } from "../../../src/store/reservations/reservation-file.ts";
import { address, prefix } from "../../ipam/parsed.ts";
import { rangeSet } from "../../store/fixtures.ts";

/** Range sets of whole subnets. */
function setsOf(...sets: readonly (readonly string[])[]): readonly RangeSet[] {
  return sets.map((subnets) => rangeSet(...subnets));
}

function excluding(...networks: readonly string[]): Exclusions {
  return makeExclusions(networks.map((text) => addressRangeOf(prefix(text))));
}

function reservationsOf(...names: readonly string[]): readonly HeldAddress[] {
  return names.map((name) => ({ address: address(name), name }));
}

// 2^(32 - n) - 3: network address, broadcast address and gateway; IPv6 keeps no broadcast address. One or two addresses
// are all handed out.
for (const [subnet, pods] of [
  ["10.0.0.0/32", 1n],
  ["10.0.0.0/31", 2n],
  ["10.0.0.0/30", 1n],
  ["10.0.0.0/29", 5n],
  ["10.0.0.0/24", 253n],
  ["10.0.0.0/16", 65_533n],
  ["10.0.0.0/8", 16_777_213n],
  ["fd00::/128", 1n],
  ["fd00::/127", 2n],
  ["fd00::/126", 2n],
  ["fd00::/64", 18_446_744_073_709_551_614n],
  ["::/0", 340_282_366_920_938_463_463_374_607_431_768_211_454n],
] as const) {
  test(`${subnet} holds ${pods} pods`, async (t) => {
    t.equal(podsFor(setsOf([subnet]), []), pods);
  });
}

test("the smallest set decides; the ranges of a set add up", async (t) => {
  const sets = setsOf(["10.0.0.0/29", "10.0.1.0/29"], ["10.0.2.0/28"], ["fd00::/64"]);
  t.equal(podsFor(sets, []), 10n);
  t.equal(podsFor(sets, excluding("10.0.2.8/29")), 6n);
  t.equal(podsFor([], []), undefined);
});

test("capacity is used and free together, exactly", async (t) => {
  const rangeSets = setsOf(["fd00::/64"], ["10.0.0.0/28"]);
  const exclusions = excluding("10.0.0.4/31", "fd00::100/120");
  const held = reservationsOf("10.0.0.2", "10.0.0.3", "10.0.0.4", "10.9.9.9", "fd00::2");

  const [v6, v4] = countRanges({ rangeSets, exclusions }, held);

  t.match(v6, { set: 0, capacity: 2n ** 64n - 258n, used: 1n, free: 2n ** 64n - 259n });
  // What lies at an excluded address takes none that could be handed out.
  t.match(v4, { set: 1, capacity: 11n, used: 2n, free: 9n });
});

for (const [used, capacity, share] of [
  [0n, 5n, 0],
  [1n, 3n, 333],
  // Only full is 100 %.
  [2n ** 64n - 1n, 2n ** 64n, 999],
  [5n, 5n, 1000],
  [0n, 0n, undefined],
] as const) {
  test(`the share in use is rounded down: ${used} of ${capacity}`, async (t) => {
    t.equal(permille({ used, capacity }), share);
  });
}

test("a range with all addresses that can be handed out is shown as its subnet", async (t) => {
  const whole = ["10.1.2.0/24", "10.1.2.0/30", "10.1.2.0/31", "10.1.2.7/32", "fd00::/127"];
  for (const subnet of whole) t.strictSame(setsOf([subnet]).flat().map(formatRange), [subnet]);

  const [small] = setsOf(["10.1.2.0/31"]).flat();
  t.equal(small && formatRange({ ...small, first: small.last }), "10.1.2.1-10.1.2.1");
});
