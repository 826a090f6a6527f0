import { test } from "tap";
import type { Json } from "../../src/cni/json.ts";
import { formatAddress } from "../../src/ipam/address.ts";
import {
  parseIPField,
  parseIPWithOptionalPrefix,
  parsePrefixField,
} from "../../src/ipam/fields.ts";
import { refusalOf } from "../cni/refusal.ts";
import { address, prefix } from "./parsed.ts";

const path = "ipam.ranges[0][1].x";

test("an absent or empty address field is undefined", (t) => {
  t.equal(parseIPField(undefined), undefined);
  t.equal(parseIPField({ value: "", path }), undefined);
  t.strictSame(parseIPField({ value: "::ffff:10.1.2.3", path }), address("10.1.2.3"));
  t.end();
});

test("an invalid address field is an error with a colon, and with its path", (t) => {
  for (const value of ["bad", "1.2.3.x", " 10.1.2.3", "10.1.2.3/24", "10.1.2.09"]) {
    const refusal = refusalOf(() => parseIPField({ value, path }));
    t.strictSame([refusal.code, refusal.message], [999, `invalid IP address: ${value}`]);
    t.match(refusal.details, path);
  }
  t.end();
});

test('a network field is parsed; null and "" are invalid', (t) => {
  t.strictSame(parsePrefixField({ value: "10.0.0.5/8", path }), prefix("10.0.0.5/8"));
  for (const [value, shown] of [
    ["10.1.2.0", "10.1.2.0"],
    ["1.2.3.4/99", "1.2.3.4/99"],
    ["", ""],
    [null, ""],
  ] as const) {
    const refusal = refusalOf(() => parsePrefixField({ value, path }));
    t.strictSame([refusal.code, refusal.message], [999, `invalid CIDR address: ${shown}`]);
    t.match(refusal.details, path);
  }
  t.end();
});

test("a field that is not a string is a type error, with its path", (t) => {
  const values: readonly Json[] = [5, true, [], {}];
  for (const value of values) {
    for (const read of [parseIPField, parsePrefixField]) {
      t.match(
        refusalOf(() => read({ value, path })),
        {
          code: 999,
          message: /^json: cannot unmarshal .* into ipam\.ranges\[0\]\[1\]\.x/,
        },
      );
    }
  }
  t.end();
});

test("a requested address may have a prefix length, which is checked and dropped", (t) => {
  const cases: readonly (readonly [written: string, canonical: string])[] = [
    ["10.1.2.50", "10.1.2.50"],
    ["10.1.2.50/24", "10.1.2.50"],
    ["10.1.2.50/32", "10.1.2.50"],
    ["10.1.2.50/0", "10.1.2.50"],
    ["2001:DB8:1::11/64", "2001:db8:1::11"],
    ["::ffff:10.1.2.50", "10.1.2.50"],
    ["::ffff:10.1.2.50/120", "10.1.2.50"],
  ];
  for (const [written, canonical] of cases) {
    t.equal(formatAddress(parseIPWithOptionalPrefix(written, "CNI_ARGS IP")), canonical, written);
  }
  t.end();
});

test("an invalid requested address is an error without a colon", (t) => {
  for (const written of [
    "bad",
    "",
    "10.1.2.50/",
    "10.1.2.50/33",
    "10.1.2.50/x",
    "10.0.0.0/64",
    "/24",
  ]) {
    const refusal = refusalOf(() => parseIPWithOptionalPrefix(written, "CNI_ARGS IP"));
    t.strictSame([refusal.code, refusal.message], [999, `invalid IP address ${written}`]);
    t.match(refusal.details, "CNI_ARGS IP");
  }
  t.end();
});
