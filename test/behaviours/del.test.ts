// test: each executable, one if short
/** DEL frees everything that it finds of an attachment, and nothing else. */

import type { CallOptions } from "../harness/network.ts";
import { behaviour, changesNothing, fails, five, succeeds } from "./behaviour.ts";

behaviour(
  "DEL frees what names the attachment, in and outside the ranges, and leaves files that no address names",
  {
    files: {
      "198.51.100.2": "c1\r\neth0",
      "198.51.100.3": "c1\r\neth1",
      "198.51.100.4": "c10\r\neth0",
      "203.0.113.9": " c1\r\neth0\n",
      "2001:db8::2": "c1\r\neth0",
      "last_reserved_ip.0": "c1\r\neth0",
      other: "c1\r\neth0",
      lock: "",
    },
  },
  (t, network) => {
    const before = network.tree();
    succeeds(t, network.del("c1"));
    t.same(network.reserved(), ["198.51.100.3", "198.51.100.4"]);
    const freed = /\/(?:198\.51\.100\.2|203\.0\.113\.9|2001:db8::2)$/;
    t.strictSame(
      network.tree(),
      before.filter(({ path }) => !freed.test(path)),
    );
  },
);

behaviour("DEL may come as often as it likes, without a namespace", {}, (t, network) => {
  network.add("c1");

  for (let call = 0; call < 3; call++) succeeds(t, network.del("c1", { netns: "" }));
  t.same(network.reserved(), []);
});

const incomplete: readonly (readonly [what: string, options: CallOptions])[] = [
  ["ranges of the wrong type", { ipam: { ranges: "x" } }],
  ["overlapping ranges", { ipam: { ranges: [[five], [five]] } }],
  ["a gateway that is not an address", { ipam: { gateway: "garbage" } }],
  ["a route with an invalid destination", { ipam: { routes: [{ dst: "garbage" }] } }],
  [
    "our own keys of the wrong type",
    {
      ipam: { exclude: 5, exhaustedStatus: 5, lockTimeoutSeconds: "x", history: "yes", sticky: 1 },
    },
  ],
  ["a relative rangesFile", { ipam: { rangesFile: "ranges.json", reuseDelaySeconds: [] } }],
  ["other ranges than at ADD", { ipam: { subnet: "203.0.113.0/24" } }],
  ["unknown CNI_ARGS", { cniArgs: "K8S_POD_NAME=p" }],
  ["args of the wrong type", { top: { args: "x" } }],
  ["invalid ranges in runtimeConfig", { top: { runtimeConfig: { ipRanges: [[{}]] } } }],
  [
    "two ranges of a family at version 0.2.0",
    { ipam: { ranges: [[five], [{ subnet: "192.0.2.0/24" }]] }, top: { cniVersion: "0.2.0" } },
  ],
];

behaviour("DEL frees the address whatever else is wrong", {}, (t, network) => {
  network.add("c2");
  for (const [what, options] of incomplete) {
    network.add("c1");
    succeeds(t, network.del("c1", options));
    t.same(network.reserved(), ["198.51.100.2"], what);
  }
});

behaviour("DEL fails where it cannot know in which directory to look", {}, (t, network) => {
  network.add("c1");
  for (const ipam of [null, "x", [], { dataDir: 5 }]) {
    changesNothing(t, network, () => fails(t, network.del("c1", { top: { ipam } }), 999));
  }
});

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
