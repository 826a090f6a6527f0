// test: each executable
/** Subnets of one or two addresses: no network address, no broadcast, no gateway. */

import { test } from "tap";
import { readError } from "../harness/printed-error.ts";
import type { JsonObject } from "../harness/runtime-call.ts";
import { grantedAddresses, networkFor } from "./network.ts";

const cases: readonly (readonly [ipam: JsonObject, addresses: readonly string[]])[] = [
  [{ subnet: "10.40.0.0/31" }, ["10.40.0.0", "10.40.0.1"]],
  [{ subnet: "10.40.0.5/32" }, ["10.40.0.5"]],
  [{ subnet: "2001:db8:40::/127" }, ["2001:db8:40::", "2001:db8:40::1"]],
  [{ subnet: "2001:db8:40::/128" }, ["2001:db8:40::"]],
  [{ subnet: "10.40.0.0/31", rangeStart: "10.40.0.1" }, ["10.40.0.1"]],
  [{ subnet: "10.40.0.0/31", exclude: ["10.40.0.0"] }, ["10.40.0.1"]],
];

for (const [ipam, addresses] of cases) {
  test(`every address of ${JSON.stringify(ipam)} is handed out, and handed out again`, (t) => {
    const network = networkFor(t, ipam);

    for (const round of [1, 2]) {
      for (const [index, address] of addresses.entries()) {
        const outcome = network.add(`c${index}`);
        t.same(grantedAddresses(outcome), [address], `round ${round}`);
        t.notMatch(outcome.stdout, "gateway");
      }
      t.match(readError(network.add("late").stdout)?.msg, "no IP addresses available in range set");
      for (const index of addresses.keys()) {
        t.equal(network.check(`c${index}`).exitCode, 0);
        t.equal(network.del(`c${index}`).exitCode, 0);
      }
    }

    t.same(network.reserved(), []);
    t.end();
  });
}

const withoutGateway: Readonly<Record<string, unknown>> = {
  "0.2.0": { cniVersion: "0.2.0", ip4: { ip: "10.40.0.0/31" }, dns: {} },
  "0.4.0": { cniVersion: "0.4.0", ips: [{ version: "4", address: "10.40.0.0/31" }], dns: {} },
  "1.1.0": { cniVersion: "1.1.0", ips: [{ address: "10.40.0.0/31" }] },
};

for (const [cniVersion, result] of Object.entries(withoutGateway)) {
  test(`a result of version ${cniVersion} without a gateway leaves the member out`, (t) => {
    const network = networkFor(t, { subnet: "10.40.0.0/31" });

    t.strictSame(JSON.parse(network.add("c1", { top: { cniVersion } }).stdout), result);
    t.end();
  });
}

test("a gateway that is configured is in the result, and not handed out", (t) => {
  const network = networkFor(t, { subnet: "10.40.0.0/31", gateway: "10.40.0.0" });

  t.strictSame(JSON.parse(network.add("c1").stdout), {
    cniVersion: "1.1.0",
    ips: [{ address: "10.40.0.1/31", gateway: "10.40.0.0" }],
  });
  t.match(
    readError(network.add("c2", { cniArgs: "IP=10.40.0.0" }).stdout)?.msg,
    "requested ip 10.40.0.0 is subnet's gateway",
  );
  t.end();
});

test("both addresses can be requested", (t) => {
  const network = networkFor(t, { subnet: "10.40.0.0/31" });

  t.same(grantedAddresses(network.add("c1", { cniArgs: "IP=10.40.0.1" })), ["10.40.0.1"]);
  t.same(grantedAddresses(network.add("c2", { cniArgs: "IP=10.40.0.0" })), ["10.40.0.0"]);
  t.end();
});

test("a small subnet overlaps what has its addresses, and not its neighbour", (t) => {
  const network = networkFor(t, {});
  const ranges = (...subnets: readonly string[]): JsonObject => ({
    ranges: [subnets.map((subnet) => ({ subnet }))],
  });

  t.match(
    readError(network.add("c1", { ipam: ranges("10.40.0.4/31", "10.40.0.5/32") }).stdout)?.msg,
    "subnets 10.40.0.4-10.40.0.5 and 10.40.0.5-10.40.0.5 overlap",
  );
  t.same(grantedAddresses(network.add("c1", { ipam: ranges("10.40.0.4/31", "10.40.0.6/31") })), [
    "10.40.0.4",
  ]);
  t.end();
});

test("STATUS counts both addresses, and knows that a lone gateway leaves none", (t) => {
  const network = networkFor(t, { subnet: "10.40.0.0/31", exhaustedStatus: "unavailable" });
  network.add("c1");
  t.equal(network.status().exitCode, 0);
  network.add("c2");
  t.equal(readError(network.status().stdout)?.code, 50);

  const lone = { subnet: "10.40.0.5/32", gateway: "10.40.0.5" };
  t.equal(readError(network.status({ ipam: lone }).stdout)?.code, 50);
  t.end();
});
