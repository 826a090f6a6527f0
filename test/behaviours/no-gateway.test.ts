// test: each executable, one if short
/** Ranges with `"gateway": "none"`. */

import { behaviour, fails, succeeds } from "./behaviour.ts";

const none = { subnet: "198.51.100.0/29", gateway: "none" };

behaviour(
  "ADD hands out every address but those of network and broadcast",
  { ipam: {} },
  (t, network) => {
    for (const [ipam, addresses] of [
      [none, [1, 2, 3, 4, 5, 6].map((last) => `198.51.100.${last}`)],
      [
        { ranges: [[none, { subnet: "203.0.113.0/30" }]], exclude: ["198.51.100.0/29"] },
        ["203.0.113.2"],
      ],
      [{ subnet: "2001:db8::/126", gateway: "none" }, [1, 2, 3].map((last) => `2001:db8::${last}`)],
    ] as const) {
      for (const address of addresses) {
        succeeds(t, network.strictStatus({ ipam }));
        const answer = network.add(`for-${address.replaceAll(":", "-")}`, { ipam });
        t.same(answer.addresses, [address]);
        t.equal(answer.stdout.includes("gateway"), address.startsWith("203.0.113."));
      }
      fails(t, network.add("late", { ipam }), 999, "no IP addresses available in range set");
      fails(t, network.strictStatus({ ipam }), 50);
    }
  },
);

behaviour(
  "ADD grants what would be the gateway, and CHECK and a repeated ADD know it",
  { ipam: { ...none, repeatedAdd: "same" } },
  (t, network) => {
    const first = network.add("c1", { cniArgs: "IP=198.51.100.1" });
    t.same(first.addresses, ["198.51.100.1"]);
    succeeds(t, network.check("c1"));
    t.equal(network.add("c1").stdout, first.stdout);
  },
);
