import fc from "fast-check";
import { test } from "tap";
import {
  formatAddress,
  formatAddresses,
  formatAddressRange,
  intersectionOf,
  isSame,
  isWithin,
  next,
  parseAddress,
  parseUnmapped,
  sizeOf,
} from "../../src/ipam/address.ts";
import { addresses } from "./arbitraries.ts";
import { address, addressRange } from "./parsed.ts";

test("addresses have one canonical form, that of RFC 5952", async (t) => {
  const cases: readonly (readonly [written: string, canonical: string])[] = [
    ["10.1.2.3", "10.1.2.3"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["2001:DB8::A", "2001:db8::a"],
    ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"],
    ["2001:db8::1:1:1:1:2", "2001:db8:0:1:1:1:1:2"],
    ["1:0:0:2:0:0:3:2", "1::2:0:0:3:2"],
    ["1:0:0:4:0:0:0:8", "1:0:0:4::8"],
    ["0:0:0:1::", "0:0:0:1::"],
    ["0:0:1:0:0:0:0:0", "0:0:1::"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"],
    ["64:ff9b::10.0.0.3", "64:ff9b::a00:3"],
  ];
  for (const [written, canonical] of cases) {
    t.equal(formatAddress(address(written)), canonical, written);
  }
});

test("an IPv4-mapped IPv6 address is the IPv4 address", async (t) => {
  for (const written of [
    "::ffff:10.1.2.3",
    "::FFFF:10.1.2.3",
    "::ffff:a01:203",
    "0:0:0:0:0:ffff:0a01:0203",
  ]) {
    t.strictSame(parseUnmapped(written), { address: address("10.1.2.3"), mapped: true }, written);
    t.strictSame(parseAddress(written), address("10.1.2.3"), written);
  }
  t.equal(parseUnmapped("10.1.2.3")?.mapped, false);
  t.equal(parseUnmapped("::1.2.3.4")?.mapped, false, "compatible, not mapped");
});

test("what Go rejects is not an address", async (t) => {
  for (const text of [
    ...["", " ", "bad", "lock", "last_reserved_ip.0"],
    ...["10", "10.0.0", "10.0.0.1.2", "10.0.0.", ".10.0.0.1", "10..0.1", "167772161", "10,0,0,1"],
    ...["10.0.0.256", "10.0.0.-1", "10.0.0.+1", "10.1.2.09", "0x0a.0.0.1", "1e1.0.0.1"],
    ...[" 10.0.0.1", "10.0.0.1 ", "10.0.0.1\n", "10.0.0.1/24", "\u0661.1.1.1", "10.0.0.1%eth0"],
    ...[":", ":::", "::1::", "1::2::3", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7"],
    ...["1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8"],
    ...["12345::", "::00000", "::g", "::-1", "::0x1"],
    ...["fe80::1%eth0", "[::1]", "::1 ", " ::1", "::1\n", "::1/64"],
    ...["::1.2.3", "::1.2.3.4.5", "::1.2.3.256", "::01.2.3.4", "::1.2.3.4:5", "1.2.3.4::"],
    ...["::ffff:010.0.0.1", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:1.2.3.4"],
  ]) {
    t.equal(parseAddress(text), undefined, JSON.stringify(text));
  }
});

test("the canonical form parses to the same address", async (t) => {
  fc.assert(
    fc.property(addresses, (one) => {
      const read = parseAddress(formatAddress(one));
      return read !== undefined && isSame(read, one);
    }),
  );
  t.pass();
});

test("two addresses have one form exactly when they are the same", async (t) => {
  fc.assert(
    fc.property(addresses, addresses, (a, b) => {
      return (formatAddress(a) === formatAddress(b)) === isSame(a, b);
    }),
  );
  t.pass();
});

test("the successor carries over octets and groups, and keeps the family", async (t) => {
  const cases: readonly (readonly [one: string, successor: string])[] = [
    ["192.168.0.255", "192.168.1.0"],
    ["0.0.0.0", "0.0.0.1"],
    ["ab12::ffff", "ab12::1:0"],
  ];
  for (const [one, successor] of cases) {
    t.equal(formatAddress(next(address(one))), successor, one);
  }
  t.equal(next(address("::fffe:ffff:ffff")).family, 6, "even into the IPv4-mapped addresses");
});

test("addresses of different families are never the same nor within one another's ranges", async (t) => {
  t.equal(isSame(address("0.0.0.1"), address("::1")), false);
  t.equal(isWithin(address("::1"), addressRange("0.0.0.0-0.0.0.255")), false);
  t.equal(isWithin(address("0.0.0.1"), addressRange("::-::ff")), false);
});

test("the size of an address range is exact, however large", async (t) => {
  t.equal(sizeOf(addressRange("10.0.0.1")), 1n);
  t.equal(sizeOf(addressRange("10.0.0.1-10.0.0.254")), 254n);
  t.equal(sizeOf(addressRange("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")), 2n ** 128n);
});

test("an address range is shown as first-last, or as the one address that it has", async (t) => {
  t.equal(formatAddresses(addressRange("2001:DB8::1-2001:db8::ff")), "2001:db8::1-2001:db8::ff");
  t.equal(formatAddresses(addressRange("fd00::1")), "fd00::1");
});

const intersections = [
  ["10.0.0.1-10.0.0.9", "10.0.0.5-10.0.0.20", "10.0.0.5-10.0.0.9"],
  ["10.0.0.1-10.0.0.9", "10.0.0.3-10.0.0.4", "10.0.0.3-10.0.0.4"],
  ["10.0.0.1-10.0.0.9", "10.0.0.9-10.0.0.9", "10.0.0.9-10.0.0.9"],
  ["10.0.0.1-10.0.0.9", "10.0.0.10-10.0.0.20", undefined],
  ["fd00::1-fd00::ff", "fd00::80-fd00::1ff", "fd00::80-fd00::ff"],
  ["0.0.0.1-0.0.0.9", "::1-::9", undefined],
] as const;

for (const [a, b, common] of intersections) {
  test(`${a} and ${b} have ${common ?? "nothing"} in common`, async (t) => {
    for (const found of [
      intersectionOf(addressRange(a), addressRange(b)),
      intersectionOf(addressRange(b), addressRange(a)),
    ]) {
      t.equal(found === undefined ? undefined : formatAddressRange(found), common);
    }
  });
}
