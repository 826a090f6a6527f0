import fc from "fast-check";
import { test } from "tap";
import { bitsOf, isWithin, sizeOf } from "../../src/ipam/address.ts";
import { addressRangeOf, formatPrefix, parsePrefix } from "../../src/ipam/prefix.ts";
import { addresses } from "./arbitraries.ts";

test("what Go rejects is not a network", async (t) => {
  for (const text of [
    ...["", "/", "/24", "bad/24", "10.1.2.0", "10.1.2.0/", "10.1.2/24", "10.1.2.00/24"],
    ...["10.1.2.0/33", "2001:db8::/129", "::ffff:10.0.0.0/129", "10.1.2.0/9999999999999999999999"],
    ...["10.1.2.0/-1", "10.1.2.0/+24", "10.1.2.0/24x", "10.1.2.0/0x18", "10.1.2.0/1e1"],
    ...["10.1.2.0/24.0", "10.1.2.0/255.255.255.0", "10.1.2.0/24/24", "fe80::%eth0/64"],
    ...["10.1.2.0/ 24", "10.1.2.0/24 ", "10.1.2.0 /24"],
  ]) {
    t.equal(parsePrefix(text), undefined, JSON.stringify(text));
  }
});

test("a network of n host bits has 2^n addresses, including the one in its notation", async (t) => {
  fc.assert(
    fc.property(addresses, fc.nat(128), (address, bits) => {
      const length = bits % (bitsOf(address.family) + 1);
      const addresses = addressRangeOf({ address, length, mapped: false });
      const hostBits = BigInt(bitsOf(address.family) - length);
      return sizeOf(addresses) === 1n << hostBits && isWithin(address, addresses);
    }),
  );
  t.pass();
});

test("the canonical form parses to the same network", async (t) => {
  fc.assert(
    fc.property(addresses, fc.nat(128), (address, bits) => {
      const network = { address, length: bits % (bitsOf(address.family) + 1), mapped: false };
      t.strictSame(parsePrefix(formatPrefix(network)), network);
    }),
    { numRuns: 50 },
  );
});
