// test: each executable, one if short
/** DEL frees whatever it finds of an attachment, and nothing else. */

import type { CallOptions } from "../harness/network.ts";
import { behaviour, changesNothing, fails, five, succeeds } from "./behaviour.ts";

behaviour(
  "DEL frees what names the attachment, in and outside the ranges",
  {
    files: {
      "10.0.0.2": "c1\r\neth0",
      "10.0.0.3": "c1\r\neth1",
      "10.0.0.4": "c10\r\neth0",
      "10.0.0.5": "c\r\neth0",
      "10.9.9.9": " c1\r\neth0\n",
      "2001:db8::2": "c1\r\neth0",
    },
  },
  (t, network) => {
    succeeds(t, network.del("c1"));
    t.same(network.reserved(), ["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
  },
);

behaviour(
  "DEL frees files without an interface only where nothing matches exactly, however many range sets there are",
  { files: { "10.0.0.4": "c1", "10.0.0.5": "c1\n", "10.9.9.9": "c1\r\neth0" } },
  (t, network) => {
    const two = { ipam: { ranges: [[five], [{ subnet: "10.1.0.0/24" }]] } };
    network.del("c1", two);
    t.same(network.reserved(), ["10.0.0.4", "10.0.0.5"]);
    network.del("c1", two);
    t.same(network.reserved(), []);
  },
);

behaviour(
  "DEL leaves the cursor, and files that are not named by an address",
  { files: { "last_reserved_ip.0": "10.0.0.3", other: "10.0.0.3\r\neth0", lock: "" } },
  (t, network) => {
    const before = network.tree();

    succeeds(t, network.del("10.0.0.3"));
    t.strictSame(network.tree(), before);
  },
);

behaviour("DEL may come as often as it likes, without a namespace", {}, (t, network) => {
  network.add("c1");

  for (let call = 0; call < 3; call++) succeeds(t, network.del("c1", { netns: "" }));
  t.same(network.reserved(), []);
});

const incomplete: readonly (readonly [what: string, options: CallOptions])[] = [
  ["no ranges", { ipam: { subnet: null } }],
  ["a subnet with host bits", { ipam: { subnet: "10.0.0.1/29" } }],
  ["a subnet that is not a CIDR", { ipam: { subnet: "garbage" } }],
  ["a subnet that is a number", { ipam: { subnet: 5 } }],
  ["ranges of the wrong type", { ipam: { ranges: "x" } }],
  ["overlapping ranges", { ipam: { ranges: [[five], [five]] } }],
  ["a gateway that is not an address", { ipam: { gateway: "garbage" } }],
  ["routes of the wrong type", { ipam: { routes: { dst: "0.0.0.0/0" } } }],
  ["a route with an invalid destination", { ipam: { routes: [{ dst: "garbage" }] } }],
  ["a resolvConf that does not exist", { ipam: { resolvConf: "/none/such" } }],
  [
    "our own keys of the wrong type",
    { ipam: { resolvConf: 5, exclude: 5, exhaustedStatus: 5, lockTimeoutSeconds: "x" } },
  ],
  ["a history of the wrong type", { ipam: { history: "yes", repeatedAdd: 1 } }],
  ["keys of reuse of the wrong type", { ipam: { sticky: 1, stickySeconds: -1 } }],
  ["a relative rangesFile", { ipam: { rangesFile: "ranges.json", reuseDelaySeconds: [] } }],
  ["other ranges than at ADD", { ipam: { subnet: "10.9.0.0/24" } }],
  ["invalid CNI_ARGS", { cniArgs: "IP=garbage" }],
  ["unknown CNI_ARGS", { cniArgs: "K8S_POD_NAME=p" }],
  ["args of the wrong type", { top: { args: "x" } }],
  ["invalid requested addresses in args", { top: { args: { cni: { ips: ["garbage"] } } } }],
  ["runtimeConfig of the wrong type", { top: { runtimeConfig: "x" } }],
  ["invalid ranges in runtimeConfig", { top: { runtimeConfig: { ipRanges: [[{}]] } } }],
  [
    "two ranges of a family at version 0.2.0",
    { ipam: { ranges: [[five], [{ subnet: "10.2.0.0/24" }]] }, top: { cniVersion: "0.2.0" } },
  ],
];

for (const [what, options] of incomplete) {
  behaviour(`DEL frees the address with ${what}`, {}, (t, network) => {
    network.add("c1");
    network.add("c2");

    succeeds(t, network.del("c1", options));
    t.same(network.reserved(), ["10.0.0.3"]);
  });
}

for (const [what, top] of [
  ["no ipam section", { ipam: null }],
  ["an ipam section that is a string", { ipam: "x" }],
  ["an ipam section that is a list", { ipam: [] }],
  ["a data directory that is a number", { ipam: { dataDir: 5 } }],
] as const) {
  behaviour(`DEL fails with ${what}, for it cannot know where to look`, {}, (t, network) => {
    network.add("c1");

    changesNothing(t, network, () => fails(t, network.del("c1", { top }), 999));
  });
}

behaviour(
  "DEL for the plugin's own network namespace frees first, then refuses",
  {},
  (t, network) => {
    network.add("c1");

    fails(t, network.del("c1", { netns: "/proc/self/ns/net" }), 8);
    t.same(network.reserved(), []);
  },
);

behaviour("DEL, CHECK, GC and STATUS create nothing in an empty directory", {}, (t, network) => {
  changesNothing(t, network, () => {
    succeeds(t, network.del("c1"));
    fails(t, network.check("c1"), 999);
    succeeds(t, network.gc([]));
    succeeds(t, network.status());
  });
});
