import fc from "fast-check";
import { test } from "tap";
import { bitsOf, formatAddressRange, isWithin, sizeOf } from "../../src/ipam/address.ts";
import { addressRangeOf, formatPrefix, networkOf, parsePrefix } from "../../src/ipam/prefix.ts";
import { addresses } from "./arbitraries.ts";
import { prefix } from "./parsed.ts";

test("networks have one canonical form, which keeps host bits", (t) => {
  const cases: readonly (readonly [written: string, canonical: string])[] = [
    ["10.1.2.0/24", "10.1.2.0/24"],
    ["10.0.0.5/8", "10.0.0.5/8"],
    ["10.1.2.0/024", "10.1.2.0/24"],
    ["10.1.2.0/00000000000000000000000024", "10.1.2.0/24"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["1.2.3.4/32", "1.2.3.4/32"],
    ["2001:0DB8::/32", "2001:db8::/32"],
    ["::/0", "::/0"],
    ["::1/128", "::1/128"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
    ["::ffff:10.1.2.50/120", "10.1.2.50/24"],
    ["::ffff:10.1.2.50/128", "10.1.2.50/32"],
  ];
  for (const [written, canonical] of cases) {
    t.equal(formatPrefix(prefix(written)), canonical, written);
  }
  t.end();
});

test("only an IPv4-mapped notation is marked as such", (t) => {
  t.equal(prefix("::ffff:10.1.2.0/120").mapped, true);
  t.equal(prefix("10.1.2.0/24").mapped, false);
  t.equal(prefix("2001:db8::/64").mapped, false);
  t.end();
});

test("what Go rejects is not a network", (t) => {
  for (const text of [
    "",
    "/",
    "/24",
    "10.1.2.0",
    "10.1.2.0/",
    "10.1.2.0/33",
    "10.1.2.0/-1",
    "10.1.2.0/+24",
    "10.1.2.0/24x",
    "10.1.2.0/ 24",
    "10.1.2.0/24 ",
    "10.1.2.0 /24",
    "10.1.2.0/24/24",
    "10.1.2.0/0x18",
    "10.1.2.0/1e1",
    "10.1.2.0/24.0",
    "10.1.2.0/255.255.255.0",
    "10.1.2.0/9999999999999999999999",
    "10.1.2/24",
    "1.2.3/45",
    "1.2.3.4/99",
    "10.1.2.00/24",
    "2001:db8::/129",
    "::ffff:10.0.0.0/129",
    "fe80::%eth0/64",
    "bad/24",
  ]) {
    t.equal(parsePrefix(text), undefined, JSON.stringify(text));
  }
  t.end();
});

test("a network reaches from its first to its last address, regardless of host bits", (t) => {
  const cases: readonly (readonly [prefix: string, addresses: string])[] = [
    ["10.1.2.0/24", "10.1.2.0-10.1.2.255"],
    ["10.1.2.77/24", "10.1.2.0-10.1.2.255"],
    ["10.1.2.3/32", "10.1.2.3-10.1.2.3"],
    ["10.1.2.3/31", "10.1.2.2-10.1.2.3"],
    ["0.0.0.0/0", "0.0.0.0-255.255.255.255"],
    ["2001:db8:24:19ff::/63", "2001:db8:24:19fe::-2001:db8:24:19ff:ffff:ffff:ffff:ffff"],
    ["::/0", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ];
  for (const [text, addresses] of cases)
    t.equal(formatAddressRange(addressRangeOf(prefix(text))), addresses, text);
  t.end();
});

test("a network of n host bits has 2^n addresses, including the one in its notation", (t) => {
  fc.assert(
    fc.property(addresses, fc.nat(128), (address, bits) => {
      const length = bits % (bitsOf(address.family) + 1);
      const addresses = addressRangeOf({ address, length, mapped: false });
      const hostBits = BigInt(bitsOf(address.family) - length);
      return sizeOf(addresses) === 1n << hostBits && isWithin(address, addresses);
    }),
  );
  t.pass();
  t.end();
});

test("the canonical form parses to the same network", (t) => {
  fc.assert(
    fc.property(addresses, fc.nat(128), (address, bits) => {
      const network = { address, length: bits % (bitsOf(address.family) + 1), mapped: false };
      t.strictSame(parsePrefix(formatPrefix(network)), network);
    }),
    { numRuns: 50 },
  );
  t.end();
});

test("networkOf takes the host bits away", (t) => {
  const prefix = parsePrefix("10.1.2.3/24");
  t.equal(prefix && formatPrefix(networkOf(prefix)), "10.1.2.0/24");
  t.end();
});
