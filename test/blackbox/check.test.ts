// test: each executable
/** CHECK finds what an attachment holds, and writes nothing. */

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { readError } from "../harness/printed-error.ts";
import { handOver, withoutPrivileges } from "../harness/unprivileged.ts";
import { type CallOptions, networkFor } from "./network.ts";
import { shortSample } from "./short-sample.ts";

const five = { subnet: "10.0.0.0/29" };

test("CHECK of a network that never had an address finds nothing and creates nothing", (t) => {
  const network = networkFor(t, five);

  t.match(readError(network.check("c1").stdout), {
    code: 999,
    msg: "host-local: Failed to find address added by container c1",
  });
  t.same(network.tree(), []);
  t.end();
});

test("CHECK works in a directory that it may only read", (t) => {
  const network = networkFor(t, five, [
    { path: "net/10.0.0.2", content: "c1\r\neth0" },
    { path: "net/10.0.0.3", content: "c2" },
  ]);
  for (const path of ["net", "net/10.0.0.2", "net/10.0.0.3"]) {
    handOver(join(network.directory, path));
  }
  chmodSync(join(network.directory, "net"), 0o555);
  chmodSync(network.directory, 0o555);
  t.teardown(() => {
    chmodSync(network.directory, 0o755);
    chmodSync(join(network.directory, "net"), 0o755);
  });
  const options = withoutPrivileges(t);

  t.same(network.check("c1", options), { exitCode: 0, stdout: "", stderr: "" });
  t.same(network.check("c2", options), { exitCode: 0, stdout: "", stderr: "" });
  t.equal(readError(network.check("c3", options).stdout)?.code, 999);
  t.end();
});

const noReservation: readonly [string, string][] = [
  ["the cursor file", "net/last_reserved_ip.0"],
  ["a file that is not named as an address", "net/foo"],
  ["a file in a sub-directory", "net/sub/10.0.0.2"],
];

for (const [what, path] of shortSample(noReservation)) {
  test(`CHECK does not take ${what} for a reservation`, (t) => {
    const network = networkFor(t, five, [{ path, content: "10.0.0.3" }]);

    t.equal(readError(network.check("10.0.0.3").stdout)?.code, 999);
    t.end();
  });
}

const invalid: readonly [string, CallOptions][] = [
  ["no ranges", { ipam: { subnet: null } }],
  ["an invalid range", { ipam: { subnet: "10.0.0.1/31" } }],
  ["an invalid route", { ipam: { routes: [{ dst: "garbage" }] } }],
  ["invalid CNI_ARGS", { cniArgs: "IP=garbage" }],
  ["invalid requested addresses", { top: { runtimeConfig: { ips: ["garbage"] } } }],
];

for (const [what, options] of shortSample(invalid)) {
  test(`CHECK fails with ${what}, although the address is there`, (t) => {
    const network = networkFor(t, five);
    network.add("c1");

    const outcome = network.check("c1", options);

    t.equal(outcome.exitCode, 1);
    t.equal(readError(outcome.stdout)?.code, 999);
    t.end();
  });
}

test("CHECK looks neither at prevResult nor at a resolvConf", (t) => {
  const network = networkFor(t, five);
  network.add("c1");

  const outcome = network.check("c1", {
    ipam: { resolvConf: "/none/such" },
    top: { prevResult: { cniVersion: "garbage", ips: 5 } },
  });

  t.same(outcome, { exitCode: 0, stdout: "", stderr: "" });
  t.end();
});
