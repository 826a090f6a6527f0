import { test } from "tap";
import { type AddressRange, formatAddressRange } from "../../../src/ipam/address.ts";
import { intersectionOf } from "../../../src/operator/check/overlap-findings.ts";
import { address } from "../../ipam/parsed.ts";

function addressRangeFrom(text: string): AddressRange {
  const [first = "", last = ""] = text.split("-");
  return { first: address(first), last: address(last) };
}

const cases = [
  ["10.0.0.1-10.0.0.9", "10.0.0.5-10.0.0.20", "10.0.0.5-10.0.0.9"],
  ["10.0.0.1-10.0.0.9", "10.0.0.3-10.0.0.4", "10.0.0.3-10.0.0.4"],
  ["10.0.0.1-10.0.0.9", "10.0.0.9-10.0.0.9", "10.0.0.9-10.0.0.9"],
  ["10.0.0.1-10.0.0.9", "10.0.0.10-10.0.0.20", undefined],
  ["fd00::1-fd00::ff", "fd00::80-fd00::1ff", "fd00::80-fd00::ff"],
  ["0.0.0.1-0.0.0.9", "::1-::9", undefined],
] as const;

for (const [a, b, common] of cases) {
  test(`${a} and ${b} have ${common ?? "nothing"} in common`, async (t) => {
    for (const found of [
      intersectionOf(addressRangeFrom(a), addressRangeFrom(b)),
      intersectionOf(addressRangeFrom(b), addressRangeFrom(a)),
    ]) {
      t.equal(found === undefined ? undefined : formatAddressRange(found), common);
    }
  });
}
