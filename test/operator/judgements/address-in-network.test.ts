/** Where an address is in a network's configuration. */

import { test } from "tap";
import { makeExclusions } from "../../../src/ipam/exclusions.ts";
import { addressRangeOf } from "../../../src/ipam/prefix.ts";
import { addressIn } from "../../../src/operator/judgements/address-in-network.ts";
import { address, prefix } from "../../ipam/parsed.ts";
import { rangeSet } from "../../store/fixtures.ts";

const excluded = addressRangeOf(prefix("10.0.0.8/31"));
const reserved = { ...addressRangeOf(prefix("10.0.0.10/32")), pod: undefined };

const network = {
  rangeSets: [rangeSet("10.0.0.0/28"), rangeSet("fd00::/64")],
  exclusions: makeExclusions([excluded, reserved]),
  reserved: [reserved],
  acceptsRuntimeRanges: false,
};

for (const [text, kind] of [
  ["10.0.0.1", "gateway"],
  ["10.0.0.10", "reserved"],
] as const) {
  test(`${text} is ${kind}`, async (t) => {
    t.equal(addressIn(network, address(text)).kind, kind);
  });
}

test("what lies in the range of all nodes, but not in the part of this one, may be of another", async (t) => {
  const [[range]] = [rangeSet("10.0.0.0/28")];
  const part = { ...range, whole: addressRangeOf(prefix("10.0.0.0/24")) };
  const of = { ...network, rangeSets: [[part] as const] };
  t.equal(addressIn(of, address("10.0.0.99")).kind, "otherNode");
});

test("where ranges may come from elsewhere, no address is outside", async (t) => {
  for (const of of [
    { ...network, rangeSets: [] },
    { ...network, acceptsRuntimeRanges: true },
  ]) {
    t.equal(addressIn(of, address("192.0.2.1")).kind, "unknown");
  }
});
