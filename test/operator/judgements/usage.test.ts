/** Counting addresses, by known facts. */

import { test } from "tap";
import { makeExclusions } from "../../../src/ipam/exclusions.ts";
import { addressRangeOf } from "../../../src/ipam/prefix.ts";
import { podsFor } from "../../../src/operator/judgements/usage.ts";
import { prefix } from "../../ipam/parsed.ts";
import { rangeSet } from "../../store/fixtures.ts";

// 2^(32 - 30) - 3: network address, broadcast address and gateway.
test("10.0.0.0/30 holds 1 pods", async (t) => {
  t.equal(podsFor([rangeSet("10.0.0.0/30")], []), 1n);
});

test("the smallest set decides; the ranges of a set add up", async (t) => {
  const sets = [
    rangeSet("10.0.0.0/29", "10.0.1.0/29"),
    rangeSet("10.0.2.0/28"),
    rangeSet("fd00::/64"),
  ];
  t.equal(podsFor(sets, []), 10n);
  t.equal(podsFor(sets, makeExclusions([addressRangeOf(prefix("10.0.2.8/29"))])), 6n);
  t.equal(podsFor([], []), undefined);
});
