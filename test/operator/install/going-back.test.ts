/** going-back.ts: why the networks of the node need this plugin. */

import { test } from "tap";
import type { Context } from "../../../src/cli/command/command.ts";
import { ownKeys } from "../../../src/ipam/config.ts";
import { needsOf, notUnderstood } from "../../../src/operator/install/going-back.ts";
import { install } from "../../../src/operator/install/install.ts";
import { contextOf, memoryNode, startOperator } from "../memory-node.ts";

const subnet = { subnet: "10.1.2.0/24" };

const exclude = "exclude: under the Go plugin excluded addresses are handed out";
const small = "a subnet of one or two addresses: under the Go plugin ADD and DEL fail";
const reserved =
  "reserved: under the Go plugin reserved addresses are handed out to anybody, and a pod gets another than its own";
const partition = "partition: under the Go plugin ADD and DEL fail";

/** What a configuration has, and what is said of it. */
const breaking: Readonly<Record<string, readonly [network: object, words: string]>> = {
  gcOnly: [
    { gcOnly: true, ipam: subnet },
    "gcOnly: under the Go plugin every ADD fails, and leaves an address reserved",
  ],
  partition: [
    { ipam: { partition: { subnetFile: "/run/flannel/subnet.env", ranges: [[subnet]] } } },
    partition,
  ],
  rangesFile: [
    { ipam: { rangesFile: "/etc/ranges.json" } },
    "rangesFile: under the Go plugin ADD and DEL fail",
  ],
  exclude: [{ ipam: { ...subnet, exclude: ["10.1.2.9"] } }, exclude],
  reserved: [{ ipam: { ...subnet, reserved: { "10.1.2.9": null } } }, reserved],
  requested: [
    { ipam: { ...subnet, requested: { by: ["example.com/ip"] } } },
    "requested: under the Go plugin a pod gets another address than it requests by a name",
  ],
  "a /31": [{ ipam: { ranges: [[{ subnet: "10.1.2.0/31" }]] } }, small],
  "gateway none": [
    { ipam: { ...subnet, gateway: "none" } },
    'gateway "none": under the Go plugin ADD and DEL fail',
  ],
  repeatedAdd: [
    { ipam: { ...subnet, repeatedAdd: "same" } },
    "repeatedAdd: under the Go plugin a repeated ADD fails",
  ],
  // What cannot be read wholly hides no key.
  "exclude beside Calico's usePodCidr": [
    { type: "calico", ipam: { subnet: "usePodCidr", exclude: ["10.1.2.9"] } },
    exclude,
  ],
  "reserved beside Calico's usePodCidr in ranges": [
    {
      type: "calico",
      ipam: { ranges: [[{ subnet: "usePodCidr" }]], reserved: { "10.1.2.9": null } },
    },
    reserved,
  ],
  "a /31 beside an invalid range": [
    { ipam: { ranges: [[{ subnet: "10.1.2.0/33" }, { subnet: "10.1.3.0/31" }]] } },
    small,
  ],
  "partition with ranges that are no list": [
    { ipam: { ranges: 5, partition: { subnetFile: 5 } } },
    partition,
  ],
  "exclude in a version that is not known": [
    { cniVersion: "9.0.0", ipam: { ...subnet, exclude: ["10.1.2.9"] } },
    exclude,
  ],
};

/** A node whose files of configurations have these texts. */
function nodeWith(text: string, other = textOf({})): Context {
  const machine = memoryNode({});
  machine.disk.put("/conf/net.conf", text);
  machine.disk.put("/conf/other.conf", other);
  return contextOf(startOperator(machine).system, { "--conf-dir": "/conf" });
}

function textOf({ ipam, ...rest }: { readonly ipam?: object }): string {
  const document = { cniVersion: "1.0.0", name: "mynet", type: "bridge", ...rest };
  const section = ipam === undefined ? {} : { ipam: { type: "host-local", ...ipam } };
  return JSON.stringify({ ...document, ...section });
}

for (const [name, [network, words]] of Object.entries(breaking)) {
  test(`a configuration with ${name} needs it`, async (t) => {
    t.same(needsOf(nodeWith(textOf(network)), "host-local", "Go plugin"), [
      `/conf/net.conf (network mynet) has ${words}`,
    ]);
  });
}

test("what the Go plugin does not understand is in this list, and in the manual", async (t) => {
  const clauses = Object.values(breaking).map(([, words]) => words);
  t.same(new Set(clauses.map((words) => words.split(": ")[0])), new Set(notUnderstood));
  t.match(install.description.join(), ` does not understand ${notUnderstood.join(", ")}. `);
});

test("any other key of this plugin merely has no effect there", async (t) => {
  t.same(
    ownKeys.filter((key) => !notUnderstood.includes(key)),
    [
      ...["history", "reclaim", "reuseDelaySeconds", "sticky", "stickySeconds"],
      ...["exhaustedStatus", "lockTimeoutSeconds"],
    ],
  );
});

for (const name of ["host-local", "static"]) {
  test(`a configuration that names ${name} needs it where there is no other`, async (t) => {
    t.same(needsOf(nodeWith(textOf({ ipam: { type: name } })), name, "nothing"), [
      `/conf/net.conf (network mynet) names ${name}, and there is no other to restore`,
    ]);
  });
}

test("a configuration that cannot be read may need it", async (t) => {
  const node = () => nodeWith("{", textOf({ ipam: subnet }));
  const unread = "/conf/net.conf cannot be read: invalid JSON at ";
  t.match(needsOf(node(), "host-local", "Go plugin"), [unread]);
  t.match(needsOf(node(), "host-local", "nothing"), [/^\/conf\/other\.conf/, unread]);
});

test("what the Go plugin understands, or is for other plugins, needs nothing", async (t) => {
  for (const network of [
    { ipam: { ...subnet, exclude: [], repeatedAdd: "error", history: true, sticky: "pod" } },
    { ipam: { subnet: "10.1.2.0/30" } },
    { gcOnly: true, ipam: { type: "host-local-ts", ...subnet } },
  ]) {
    t.same(needsOf(nodeWith(textOf(network)), "host-local", "Go plugin"), []);
  }
});
