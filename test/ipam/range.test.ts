import fc from "fast-check";
import { test } from "tap";
import { formatAddress, formatAddressRange, isWithin } from "../../src/ipam/address.ts";
import { addressRangeOf } from "../../src/ipam/prefix.ts";
import { makeRange, type Range } from "../../src/ipam/range.ts";
import { refusalOf } from "../cni/refusal.ts";
import { addresses } from "./arbitraries.ts";
import { rangeSpec, type WrittenRange } from "./parsed.ts";

function range(written: WrittenRange): Range {
  return makeRange(rangeSpec(written));
}

/** AddressRange and gateway, as text; the gateway is empty where there is none. */
function shown(made: Range): readonly [addresses: string, gateway: string] {
  return [formatAddressRange(made), made.gateway === undefined ? "" : formatAddress(made.gateway)];
}

test("by default all but network, broadcast (not in IPv6) and gateway addresses are handed out", async (t) => {
  const cases: readonly (readonly [subnet: string, addresses: string, gateway: string])[] = [
    ["192.0.2.0/24", "192.0.2.1-192.0.2.254", "192.0.2.1"],
    ["10.0.0.0/30", "10.0.0.1-10.0.0.2", "10.0.0.1"],
    ["0.0.0.0/0", "0.0.0.1-255.255.255.254", "0.0.0.1"],
    ["255.255.255.252/30", "255.255.255.253-255.255.255.254", "255.255.255.253"],
    ["10.1.2.0/024", "10.1.2.1-10.1.2.254", "10.1.2.1"],
    ["2001:DB8:1::/64", "2001:db8:1::1-2001:db8:1:0:ffff:ffff:ffff:ffff", "2001:db8:1::1"],
    ["2001:db8::/126", "2001:db8::1-2001:db8::3", "2001:db8::1"],
    ["::100:0/120", "::100:1-::100:ff", "::100:1"],
  ];
  for (const [subnet, addresses, gateway] of cases) {
    t.strictSame(shown(range({ subnet })), [addresses, gateway], subnet);
  }
});

test("a subnet of one or two addresses has no network, broadcast or unconfigured gateway", async (t) => {
  const cases: readonly (readonly [WrittenRange, addresses: string, gateway: string])[] = [
    [{ subnet: "10.0.0.0/31" }, "10.0.0.0-10.0.0.1", ""],
    [{ subnet: "255.255.255.254/31" }, "255.255.255.254-255.255.255.255", ""],
    [{ subnet: "10.0.0.5/32" }, "10.0.0.5-10.0.0.5", ""],
    [{ subnet: "2001:db8::2/127" }, "2001:db8::2-2001:db8::3", ""],
    [{ subnet: "2001:db8::/128" }, "2001:db8::-2001:db8::", ""],
    [{ subnet: "10.0.0.0/31", rangeStart: "10.0.0.1" }, "10.0.0.1-10.0.0.1", ""],
    [{ subnet: "10.0.0.0/31", gateway: "10.0.0.0" }, "10.0.0.0-10.0.0.1", "10.0.0.0"],
    [{ subnet: "10.0.0.5/32", gateway: "169.254.1.1" }, "10.0.0.5-10.0.0.5", "169.254.1.1"],
  ];
  for (const [written, addresses, gateway] of cases) {
    t.strictSame(shown(range(written)), [addresses, gateway], JSON.stringify(written));
  }
});

test("start, end and gateway may be configured, up to the ends of the subnet", async (t) => {
  const subnet = "10.0.0.0/29";
  const cases: readonly (readonly [WrittenRange, addresses: string, gateway: string])[] = [
    [{ rangeStart: "10.0.0.2", rangeEnd: "10.0.0.4" }, "10.0.0.2-10.0.0.4", "10.0.0.1"],
    [{ rangeStart: "10.0.0.0" }, "10.0.0.0-10.0.0.6", "10.0.0.1"],
    [{ rangeEnd: "10.0.0.7" }, "10.0.0.1-10.0.0.7", "10.0.0.1"],
    [{ rangeStart: "10.0.0.3", rangeEnd: "10.0.0.3" }, "10.0.0.3-10.0.0.3", "10.0.0.1"],
    [{ rangeStart: "::ffff:10.0.0.3" }, "10.0.0.3-10.0.0.6", "10.0.0.1"],
    [{ gateway: "10.0.0.4" }, "10.0.0.1-10.0.0.6", "10.0.0.4"],
    [{ gateway: "2001:db8::1" }, "10.0.0.1-10.0.0.6", "2001:db8::1"],
    [{ gateway: "none" }, "10.0.0.1-10.0.0.6", ""],
  ];
  for (const [written, addresses, gateway] of cases) {
    t.strictSame(
      shown(range({ subnet, ...written })),
      [addresses, gateway],
      JSON.stringify(written),
    );
  }
});

test("of several errors the first in the Go plugin's order is reported", async (t) => {
  const cases: readonly (readonly [WrittenRange, message: RegExp])[] = [
    [{ subnet: "::ffff:10.1.2.1/120" }, /^IPNet IP and Mask version mismatch/],
    [{ subnet: "10.1.2.5/24", rangeStart: "10.9.9.9" }, /^Network has host bits set/],
    [
      { subnet: "10.1.2.0/24", rangeStart: "9.9.9.9", rangeEnd: "8.8.8.8" },
      /^RangeStart 9\.9\.9\.9/,
    ],
  ];
  for (const [written, message] of cases) {
    t.match(refusalOf(() => range(written)).message, message, JSON.stringify(written));
  }
});

test("every range that is made lies in its subnet and is not empty", async (t) => {
  fc.assert(
    fc.property(addresses, addresses, fc.integer({ min: 0, max: 128 }), (start, end, bits) => {
      const length = start.family === 4 ? Math.min(bits, 32) : bits;
      const subnet = { address: start, length, mapped: false };
      const whole = addressRangeOf(subnet);
      const spec = { path: "ipam", rangeStart: start, rangeEnd: end, gateway: undefined };
      try {
        const made = makeRange({ ...spec, subnet: { ...subnet, address: whole.first } });
        return (
          isWithin(made.first, whole) && isWithin(made.last, made) && isWithin(made.first, made)
        );
      } catch {
        return !isWithin(end, whole) || end.value < start.value;
      }
    }),
  );
  t.pass();
});
