// test: each executable
/** Addresses of a range that are never handed out. */

import { test } from "tap";
import { readError } from "../harness/printed-error.ts";
import type { Json } from "../harness/runtime-call.ts";
import { grantedAddresses, networkFor } from "./network.ts";
import { shortSample } from "./short-sample.ts";

const five = { subnet: "10.0.0.0/29" };

const cases: readonly [string, Json, readonly string[]][] = [
  ["an address", ["10.0.0.3"], ["10.0.0.2", "10.0.0.4", "10.0.0.5", "10.0.0.6"]],
  ["a CIDR", ["10.0.0.4/31"], ["10.0.0.2", "10.0.0.3", "10.0.0.6"]],
  ["both", ["10.0.0.2", "10.0.0.4/30"], ["10.0.0.3"]],
  [
    "what is outside the range",
    ["10.9.9.9", "2001:db8::/64"],
    ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"],
  ],
  ["nothing", [], ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]],
  ["null", null, ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]],
];

for (const [what, exclude, usable] of shortSample(cases)) {
  test(`ADD hands out every address but the excluded: ${what}`, (t) => {
    const network = networkFor(t, { ...five, exclude });

    for (const [index, address] of usable.entries()) {
      t.same(grantedAddresses(network.add(`c${index}`)), [address]);
    }

    t.match(readError(network.add("late").stdout)?.msg, "no IP addresses available in range set");
    t.same(network.reserved(), usable);
    t.end();
  });
}

test("the first usable address follows the cursor, as without exclusions", (t) => {
  const network = networkFor(t, { ...five, exclude: ["10.0.0.4"] }, [
    { path: "net/last_reserved_ip.0", content: "10.0.0.3" },
  ]);

  t.same(grantedAddresses(network.add("c1")), ["10.0.0.5"]);
  t.end();
});

test("IPv6 addresses are excluded in any spelling", (t) => {
  const network = networkFor(t, {
    subnet: "2001:db8::/125",
    exclude: ["2001:0DB8:0::0002", "2001:db8:0:0::4/127"],
  });

  t.same(grantedAddresses(network.add("c1")), ["2001:db8::3"]);
  t.same(grantedAddresses(network.add("c2")), ["2001:db8::6"]);
  t.end();
});

test("an excluded address cannot be requested", (t) => {
  const network = networkFor(t, { ...five, exclude: ["10.0.0.3"] });

  const error = readError(network.add("c1", { cniArgs: "IP=10.0.0.3" }).stdout);

  t.equal(error?.code, 999);
  t.match(`${error?.msg} ${error?.details}`, "exclude");
  t.same(network.reserved(), []);
  t.end();
});

test("an address that was excluded later is kept, checked and freed", (t) => {
  const network = networkFor(t, five);
  network.add("c1");
  const excluded = { ipam: { exclude: ["10.0.0.2"] } };

  t.equal(network.check("c1", excluded).exitCode, 0);
  t.equal(network.del("c1", excluded).exitCode, 0);
  t.same(network.reserved(), []);
  t.end();
});

test("STATUS does not count excluded addresses as free", (t) => {
  const network = networkFor(t, {
    ...five,
    exclude: ["10.0.0.3", "10.0.0.4/30"],
    exhaustedStatus: "unavailable",
  });
  t.equal(network.status().exitCode, 0);

  network.add("c1");

  t.equal(readError(network.status().stdout)?.code, 50);
  t.end();
});

const invalid: readonly [string, Json][] = [
  ["a string", "10.0.0.3"],
  ["a number in the list", [5]],
  ["null in the list", [null]],
  ["an empty text", [""]],
  ["no address", ["router"]],
  ["a prefix that is too long", ["10.0.0.0/33"]],
  ["a range of addresses", ["10.0.0.3-10.0.0.4"]],
];

for (const [what, exclude] of shortSample(invalid)) {
  test(`ADD fails with ${what} in exclude, and names the place`, (t) => {
    const network = networkFor(t, { ...five, exclude });

    const error = readError(network.add("c1").stdout);

    t.equal(error?.code, 999);
    t.match(`${error?.msg} ${error?.details}`, "exclude");
    t.same(network.tree(), []);
    t.end();
  });
}
