// test: each executable
/** STATUS says whether an ADD could be served (CNI SPEC 1.1.0, section 2, STATUS). */

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import type { PriorFile } from "../harness/data-directory.ts";
import { readError } from "../harness/printed-error.ts";
import type { Json, JsonObject } from "../harness/runtime-call.ts";
import { handOver, withoutPrivileges } from "../harness/unprivileged.ts";
import { networkFor } from "./network.ts";

const silent = { exitCode: 0, stdout: "", stderr: "" };
const five = { subnet: "10.0.0.0/29" };
const strict = { exhaustedStatus: "unavailable" };
const other = { subnet: "10.0.1.0/24" };

function taken(...addresses: readonly string[]): PriorFile[] {
  return addresses.map((address) => ({ path: `net/${address}`, content: "c\r\neth0" }));
}

const all = taken("10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6");

const ready: readonly [string, JsonObject, readonly PriorFile[]][] = [
  ["a network that never had an address", five, []],
  ["a range with one address left", five, all.slice(1)],
  [
    "an exhausted range beside a free one in the same set",
    { ...strict, ranges: [[five, other]] },
    all,
  ],
  ["no ranges at all, for a runtime sends no runtimeConfig with STATUS", {}, all],
  ["addresses outside the range", five, taken("10.0.0.1", "10.0.0.7", "10.0.0.8", "10.9.9.9")],
  ["an exhausted range", five, all],
  [
    "an exhausted range, where that is configured as ready",
    { ...five, exhaustedStatus: "ready" },
    all,
  ],
  ["an IPv6 range that nobody could count", { subnet: "2001:db8::/64" }, taken("2001:db8::2")],
];

for (const [what, ipam, files] of ready) {
  test(`STATUS is ready with ${what}`, (t) => {
    const network = networkFor(t, ipam, files);
    const before = network.tree();

    t.same(network.status(), silent);
    t.same(network.tree(), before, "and nothing was written");
    t.end();
  });
}

const exhausted: readonly [string, JsonObject, readonly PriorFile[], RegExp][] = [
  ["a range without a free address", five, all, /\b5\b/],
  ["one of two range sets without a free address", { ranges: [[other], [five]] }, all, /\b5\b/],
  [
    "a set of several ranges without a free address",
    { ranges: [[{ subnet: "10.0.0.0/30" }, { subnet: "10.0.1.0/30" }]] },
    taken("10.0.0.2", "10.0.1.2"),
    /\b[12]\b/,
  ],
  [
    "a part of a subnet without a free address",
    { ...five, rangeStart: "10.0.0.3", rangeEnd: "10.0.0.4" },
    taken("10.0.0.3", "10.0.0.4"),
    /\b2\b/,
  ],
  [
    "an IPv6 range without a free address",
    { subnet: "2001:db8::/126" },
    taken("2001:db8::2", "2001:db8::3"),
    /\b2\b/,
  ],
  [
    "legacy reservations everywhere",
    { subnet: "10.0.0.0/30" },
    [{ path: "net/10.0.0.2", content: "c" }],
    /\b1\b/,
  ],
];

for (const [what, ipam, files, count] of exhausted) {
  test(`STATUS is error 50 with ${what}, where that is configured, and counts`, (t) => {
    const network = networkFor(t, { ...ipam, ...strict }, files);
    const before = network.tree();

    const outcome = network.status();

    const error = readError(outcome.stdout);
    t.equal(outcome.exitCode, 1);
    t.equal(error?.code, 50);
    t.match(`${error?.msg} ${error?.details}`, count);
    t.same(network.tree(), before, "and nothing was written");
    t.end();
  });
}

test("STATUS is error 50 with a range of which every address is excluded", (t) => {
  const network = networkFor(t, { ...five, exclude: ["10.0.0.0/29"] });

  const outcome = network.status();

  t.equal(outcome.exitCode, 1);
  t.equal(readError(outcome.stdout)?.code, 50);
  t.end();
});

test("STATUS is ready again after a DEL", (t) => {
  const network = networkFor(t, { subnet: "10.0.0.0/30", ...strict });
  network.add("c1");
  t.equal(readError(network.status().stdout)?.code, 50);

  network.del("c1");

  t.same(network.status(), silent);
  t.end();
});

test("ADD and DEL work while STATUS reports exhaustion", (t) => {
  const network = networkFor(t, {
    ...strict,
    ranges: [[{ subnet: "10.0.0.0/30" }, { subnet: "10.0.1.0/30" }]],
  });
  network.add("c1");
  network.add("c2");
  t.equal(readError(network.status().stdout)?.code, 50);

  t.equal(network.del("c2").exitCode, 0);
  t.equal(network.add("c3").exitCode, 0);
  t.end();
});

test("STATUS is error 50 where the network's directory may not be written", (t) => {
  const network = networkFor(t, five, [{ path: "net/" }]);
  for (const path of ["", "net"]) {
    handOver(join(network.directory, path));
  }
  chmodSync(join(network.directory, "net"), 0o555);
  t.teardown(() => chmodSync(join(network.directory, "net"), 0o755));

  const outcome = network.status(withoutPrivileges(t));

  const error = readError(outcome.stdout);
  t.equal(outcome.exitCode, 1);
  t.equal(error?.code, 50);
  t.match(`${error?.msg} ${error?.details}`, join(network.directory, "net"));
  t.end();
});

test("STATUS is error 50 where the network's directory could not be created", (t) => {
  const network = networkFor(t, five);
  handOver(network.directory);
  chmodSync(network.directory, 0o555);
  t.teardown(() => chmodSync(network.directory, 0o755));

  const outcome = network.status(withoutPrivileges(t));

  t.equal(outcome.exitCode, 1);
  t.equal(readError(outcome.stdout)?.code, 50);
  t.same(network.tree(), []);
  t.end();
});

test("STATUS is error 50 where the data directory is a file", (t) => {
  const network = networkFor(t, five);
  const file = join(network.directory, "file");
  writeFileSync(file, "");

  const outcome = network.status({ ipam: { dataDir: file } });

  t.equal(outcome.exitCode, 1);
  t.equal(readError(outcome.stdout)?.code, 50);
  t.end();
});

test("STATUS is ready where the data directory is yet to be created", (t) => {
  const network = networkFor(t, five);
  const dataDir = join(network.directory, "some/where");

  t.same(network.status({ ipam: { dataDir } }), silent);
  t.same(network.tree(), []);
  t.end();
});

const unusable: readonly [string, Json, string][] = [
  ["that is missing", null, "IPAM config missing 'ipam' key"],
  ["that is a number", 5, "json: cannot unmarshal "],
  ["that is a list", [], "json: cannot unmarshal "],
  ["with an invalid range", { subnet: "10.0.0.1/31" }, "Network has host bits set"],
  ["with overlapping ranges", { ranges: [[five], [five]] }, "range set 0 overlaps with 1"],
];

for (const [what, ipam, words] of unusable) {
  test(`STATUS is error 50 with an ipam section ${what}, in the words of ADD`, (t) => {
    const network = networkFor(t, five);

    const outcome = network.status({ top: { ipam } });

    const error = readError(outcome.stdout);
    t.equal(outcome.exitCode, 1);
    t.equal(error?.code, 50);
    t.match(`${error?.msg} ${error?.details}`, words);
    t.end();
  });
}
