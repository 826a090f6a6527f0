// test: each executable
/** DEL frees whatever it finds of an attachment, and nothing else. */

import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { populate, treeOf } from "../harness/data-directory.ts";
import { readError } from "../harness/printed-error.ts";
import type { JsonObject } from "../harness/runtime-call.ts";
import { handOver, isRoot, withoutPrivileges } from "../harness/unprivileged.ts";
import { type CallOptions, networkFor } from "./network.ts";
import { shortSample } from "./short-sample.ts";

const five = { subnet: "10.0.0.0/29" };

const incomplete: readonly [string, CallOptions][] = [
  ["no ranges", { ipam: { subnet: null } }],
  ["a subnet with host bits", { ipam: { subnet: "10.0.0.1/29" } }],
  ["a subnet that is no CIDR", { ipam: { subnet: "garbage" } }],
  ["a subnet that is a number", { ipam: { subnet: 5 } }],
  ["ranges of the wrong type", { ipam: { ranges: "x" } }],
  ["overlapping ranges", { ipam: { ranges: [[five], [five]] } }],
  ["a gateway that is no address", { ipam: { gateway: "garbage" } }],
  ["routes of the wrong type", { ipam: { routes: { dst: "0.0.0.0/0" } } }],
  ["a route with an invalid destination", { ipam: { routes: [{ dst: "garbage" }] } }],
  ["a resolvConf that does not exist", { ipam: { resolvConf: "/none/such" } }],
  ["a resolvConf of the wrong type", { ipam: { resolvConf: 5 } }],
  ["other ranges than at ADD", { ipam: { subnet: "10.9.0.0/24" } }],
  ["invalid CNI_ARGS", { cniArgs: "IP=garbage" }],
  ["unknown CNI_ARGS", { cniArgs: "K8S_POD_NAME=p" }],
  ["args of the wrong type", { top: { args: "x" } }],
  ["invalid requested addresses in args", { top: { args: { cni: { ips: ["garbage"] } } } }],
  ["runtimeConfig of the wrong type", { top: { runtimeConfig: "x" } }],
  ["invalid ranges in runtimeConfig", { top: { runtimeConfig: { ipRanges: [[{}]] } } }],
  [
    "two ranges of a family at version 0.2.0",
    {
      ipam: { ranges: [[{ subnet: "10.1.0.0/24" }], [{ subnet: "10.2.0.0/24" }]] },
      top: { cniVersion: "0.2.0" },
    },
  ],
];

for (const [what, options] of shortSample(incomplete)) {
  test(`DEL frees the address with ${what}`, (t) => {
    const network = networkFor(t, five);
    network.add("c1");
    network.add("c2");

    const outcome = network.del("c1", options);

    t.same(outcome, { exitCode: 0, stdout: "", stderr: "" });
    t.same(network.reserved(), ["10.0.0.3"]);
    t.end();
  });
}

const unusable: readonly [string, JsonObject][] = [
  ["no ipam section", { ipam: null }],
  ["an ipam section that is a string", { ipam: "x" }],
  ["an ipam section that is a list", { ipam: [] }],
  ["a data directory that is a number", { ipam: { dataDir: 5 } }],
];

for (const [what, top] of shortSample(unusable)) {
  test(`DEL fails with ${what}, for it cannot know where to look`, (t) => {
    const network = networkFor(t, five);
    network.add("c1");

    const outcome = network.del("c1", { top });

    t.equal(outcome.exitCode, 1);
    t.equal(readError(outcome.stdout)?.code, 999);
    t.same(network.reserved(), ["10.0.0.2"]);
    t.end();
  });
}

test("DEL may come as often as it likes, without a network namespace", (t) => {
  const network = networkFor(t, five);
  network.add("c1");

  for (const call of [1, 2, 3]) {
    const outcome = network.del("c1", { netns: "" });
    t.same(outcome, { exitCode: 0, stdout: "", stderr: "" }, `call ${call}`);
  }
  t.same(network.reserved(), []);
  t.end();
});

test("DEL for the plugin's own network namespace frees first and refuses then", (t) => {
  const network = networkFor(t, five);
  network.add("c1");

  const outcome = network.del("c1", { netns: "/proc/self/ns/net" });

  t.equal(outcome.exitCode, 1);
  t.equal(readError(outcome.stdout)?.code, 8);
  t.same(network.reserved(), []);
  t.end();
});

test("DEL leaves the other interfaces of the container and similar ids alone", (t) => {
  const network = networkFor(t, { subnet: "10.0.0.0/24" });
  network.add("c1");
  network.add("c1", { interfaceName: "eth1" });
  network.add("c10");
  network.add("c");

  network.del("c1");

  t.same(network.reserved(), ["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
  t.end();
});

test("DEL of a container whose id is the cursor's address leaves the cursor", (t) => {
  const network = networkFor(t, five, [{ path: "net/last_reserved_ip.0", content: "10.0.0.3" }]);

  t.equal(network.del("10.0.0.3").exitCode, 0);

  t.match(network.tree(), [{}, { path: "net/last_reserved_ip.0", content: "10.0.0.3" }]);
  t.end();
});

test("DEL frees in a network directory that is a symbolic link", (t) => {
  const network = networkFor(t, five, [{ path: "elsewhere/" }]);
  symlinkSync("elsewhere", join(network.directory, "net"));
  t.equal(network.add("c1").exitCode, 0);
  t.equal(network.add("c1").exitCode, 1, "the duplicate is seen");
  t.equal(network.check("c1").exitCode, 0);

  t.equal(network.del("c1").exitCode, 0);

  const left = treeOf(network.directory).map(({ path }) => path);
  t.notOk(left.includes("elsewhere/10.0.0.2"));
  t.end();
});

test("DEL frees in a data directory that is a symbolic link", (t) => {
  const network = networkFor(t, five);
  const alias = join(network.directory, "alias");
  mkdirSync(join(network.directory, "real"));
  symlinkSync("real", alias);
  network.add("c1", { ipam: { dataDir: alias } });

  t.equal(network.del("c1", { ipam: { dataDir: alias } }).exitCode, 0);

  const left = treeOf(network.directory).map(({ path }) => path);
  t.ok(left.includes("real/net/last_reserved_ip.0"));
  t.notOk(left.includes("real/net/10.0.0.2"));
  t.end();
});

test("DEL reports every address that it could not free", (t) => {
  const network = networkFor(t, five, [
    { path: "net/10.0.0.2", content: "c1\r\neth0" },
    { path: "net/10.0.0.3", content: "c1\r\neth0" },
    { path: "net/lock" },
  ]);
  for (const path of ["", "net", "net/lock", "net/10.0.0.2", "net/10.0.0.3"]) {
    handOver(join(network.directory, path));
  }
  chmodSync(join(network.directory, "net"), 0o555);
  t.teardown(() => chmodSync(join(network.directory, "net"), 0o755));

  const outcome = network.del("c1", withoutPrivileges(t));

  const error = readError(outcome.stdout);
  t.equal(outcome.exitCode, 1);
  t.equal(error?.code, 5);
  t.match(`${error?.msg} ${error?.details}`, "10.0.0.2");
  t.match(`${error?.msg} ${error?.details}`, "10.0.0.3");
  t.same(network.reserved(), ["10.0.0.2", "10.0.0.3"]);
  t.end();
});

test("DEL frees the addresses after the one that it could not free", {
  skip: isRoot ? false : "only root can make a file that its caller cannot remove",
}, (t) => {
  const network = networkFor(t, five, [
    { path: "net/10.0.0.2", content: "c1\r\neth0" },
    { path: "net/10.0.0.3", content: "c1\r\neth0" },
    { path: "net/lock" },
  ]);
  for (const path of ["", "net/lock", "net/10.0.0.3"]) {
    handOver(join(network.directory, path));
  }
  // In a sticky directory of root's, a user may remove only their own files.
  chmodSync(join(network.directory, "net"), 0o1777);
  chmodSync(join(network.directory, "net/10.0.0.2"), 0o644);

  const outcome = network.del("c1", withoutPrivileges(t));

  t.equal(readError(outcome.stdout)?.code, 5);
  t.same(network.reserved(), ["10.0.0.2"]);
  t.end();
});

test("DEL frees legacy files only where nothing matches exactly", (t) => {
  const network = networkFor(t, five);
  populate(network.directory, [
    { path: "net/10.0.0.4", content: "c1" },
    { path: "net/10.0.0.5", content: "c1\n" },
    { path: "net/10.9.9.9", content: "c1\r\neth0" },
  ]);

  network.del("c1");
  t.same(network.reserved(), ["10.0.0.4", "10.0.0.5"]);
  network.del("c1");
  t.same(network.reserved(), []);
  t.end();
});
