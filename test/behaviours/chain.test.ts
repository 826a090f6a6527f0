// test: each executable, one if short, sees the node
/** With `"gcOnly": true` the plugin stands in the chain after a main plugin that keeps GC to itself. */

import { behaviour, changesNothing, fails, succeeds } from "./behaviour.ts";

/** The result of the main plugin, with members that no IPAM plugin knows. */
const prevResult = {
  cniVersion: "1.1.0",
  dns: { nameservers: ["192.0.2.53"] },
  interfaces: [
    { mac: "0a:58:0a:00:00:01", name: "cni0" },
    { mac: "0a:58:0a:00:00:02", mtu: 1450, name: "eth0", sandbox: "/var/run/netns/a" },
  ],
  ips: [{ address: "198.51.100.2/29", gateway: "198.51.100.1", interface: 1 }],
  routes: [{ dst: "0.0.0.0/0", priority: 7 }],
  extra: [1, "<&>"],
};

const chained = { type: "host-local", gcOnly: true };
const files = { "198.51.100.2": "c1\r\neth0", "198.51.100.3": "c2\r\neth0" };

behaviour(
  "ADD with gcOnly hands on prevResult untouched and reserves nothing",
  { files },
  (t, network) => {
    changesNothing(t, network, () => {
      const outcome = network.add("c1", { top: { ...chained, prevResult } });

      t.same([outcome.exitCode, outcome.stderr], [0, ""]);
      t.strictSame(JSON.parse(outcome.stdout), prevResult);
    });
  },
);

behaviour("ADD with gcOnly prints a deep prevResult without indentation", {}, (t, network) => {
  const nested = JSON.parse("[".repeat(9000) + "]".repeat(9000));

  t.equal(network.add("c1", { top: { ...chained, prevResult: nested } }).stdout.length, 18_000);
});

behaviour("ADD with gcOnly needs a prevResult", {}, (t, network) => {
  for (const top of [chained, { ...chained, prevResult: null }]) {
    const refused = network.add("c1", { top });
    fails(t, refused, 7, /^Required prevResult missing$/);
    t.match(refused.error?.details, "in the chain after the main plugin");
  }
});

behaviour(
  "CHECK and DEL with gcOnly leave all to the main plugin's own",
  { files },
  (t, network) => {
    const top = { ...chained, prevResult };
    changesNothing(t, network, () => {
      succeeds(t, network.check("c1", { top }));
      succeeds(t, network.check("c9", { top }));
      succeeds(t, network.del("c1", { top }));
    });
  },
);

behaviour(
  "GC with gcOnly frees what is not listed",
  { files, needs: ["sees the node"] },
  (t, network) => {
    succeeds(t, network.gc(["c2 eth0"], { top: chained }));
    t.same(network.reserved(), ["198.51.100.3"]);
  },
);

behaviour(
  "STATUS with gcOnly answers for the main plugin's addresses",
  { ipam: { subnet: "198.51.100.0/30", exhaustedStatus: "unavailable" } },
  (t, network) => {
    succeeds(t, network.status({ top: chained }));

    network.add("c1");

    fails(t, network.status({ top: chained }), 50);
  },
);
