// test: each executable
/** The executable in the plugin chain, after a main plugin that keeps GC to itself. */

import { test } from "tap";
import { readError } from "../harness/printed-error.ts";
import type { JsonObject } from "../harness/runtime-call.ts";
import { networkFor } from "./network.ts";

const silent = { exitCode: 0, stdout: "", stderr: "" };

/** What the main plugin returned, with members that no IPAM plugin knows of. */
const prevResult = {
  cniVersion: "1.1.0",
  dns: { nameservers: ["192.0.2.53"] },
  interfaces: [
    { mac: "0a:58:0a:00:00:01", name: "cni0" },
    { mac: "0a:58:0a:00:00:02", mtu: 1450, name: "eth0", sandbox: "/var/run/netns/a" },
  ],
  ips: [{ address: "10.0.0.2/29", gateway: "10.0.0.1", interface: 1 }],
  routes: [{ dst: "0.0.0.0/0", priority: 7 }],
};

const chained: JsonObject = { type: "host-local", gcOnly: true };
const held = [
  { path: "net/10.0.0.2", content: "c1\r\neth0" },
  { path: "net/10.0.0.3", content: "c2\r\neth0" },
];
const five = { subnet: "10.0.0.0/29" };

test("ADD hands prevResult on untouched and reserves nothing", (t) => {
  const network = networkFor(t, five, held);
  const before = network.tree();

  const outcome = network.add("c1", { top: { ...chained, prevResult } });

  t.equal(outcome.exitCode, 0);
  t.strictSame(JSON.parse(outcome.stdout), prevResult);
  t.equal(outcome.stderr, "");
  t.same(network.tree(), before);
  t.end();
});

test("ADD hands on a prevResult of version 0.4.0 in that version", (t) => {
  const network = networkFor(t, five);
  const earlier = {
    cniVersion: "0.4.0",
    interfaces: [{ name: "eth0", sandbox: "/var/run/netns/a" }],
    ips: [{ version: "4", interface: 0, address: "10.0.0.2/29", gateway: "10.0.0.1" }],
    dns: {},
  };

  const outcome = network.add("c1", {
    top: { ...chained, cniVersion: "0.4.0", prevResult: earlier },
  });

  t.equal(outcome.exitCode, 0);
  t.strictSame(JSON.parse(outcome.stdout), earlier);
  t.end();
});

test("CHECK succeeds and writes nothing", (t) => {
  const network = networkFor(t, five, held);
  const before = network.tree();

  t.same(network.check("c1", { top: { ...chained, prevResult } }), silent);
  t.same(network.tree(), before);
  t.end();
});

test("DEL frees nothing, for the main plugin's own DEL does", (t) => {
  const network = networkFor(t, five, held);

  t.same(network.del("c1", { top: { ...chained, prevResult } }), silent);
  t.same(network.reserved(), ["10.0.0.2", "10.0.0.3"]);
  t.end();
});

test("GC frees what is not listed", (t) => {
  const network = networkFor(t, five, held);
  const listed = [{ containerID: "c2", ifname: "eth0" }];

  t.same(
    network.gc({
      ...chained,
      "cni.dev/attachments": listed,
      "cni.dev/valid-attachments": listed,
    }),
    silent,
  );
  t.same(network.reserved(), ["10.0.0.3"]);
  t.end();
});

test("STATUS answers for the same addresses as the main plugin's", (t) => {
  const network = networkFor(t, { subnet: "10.0.0.0/30", exhaustedStatus: "unavailable" });
  t.same(network.status({ top: chained }), silent);

  network.add("c1");

  t.equal(readError(network.status({ top: chained }).stdout)?.code, 50);
  t.end();
});

test("gcOnly: false is as if the key were absent", (t) => {
  const network = networkFor(t, five);

  t.equal(network.add("c1", { top: { gcOnly: false, prevResult } }).exitCode, 0);
  t.same(network.reserved(), ["10.0.0.2"]);
  t.end();
});

test("the whole life of an attachment through a chain leaves nothing behind", (t) => {
  const network = networkFor(t, five);
  const main = networkFor(t, { ...five, dataDir: network.directory });
  const chain = { top: { ...chained, prevResult } };

  t.equal(main.add("c1").exitCode, 0);
  t.equal(network.add("c1", chain).exitCode, 0);
  t.same(network.check("c1", chain), silent);
  t.same(main.check("c1"), silent);
  t.same(network.del("c1", chain), silent);
  t.same(main.del("c1"), silent);

  t.same(network.reserved(), []);
  t.end();
});
