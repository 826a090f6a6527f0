// test: each executable, one if short
/** Ranges with `"gateway": "none"`. */

import { behaviour, fails, succeeds } from "./behaviour.ts";

const none = { subnet: "10.0.0.0/29", gateway: "none" };

for (const [ipam, addresses] of [
  [none, [1, 2, 3, 4, 5, 6].map((last) => `10.0.0.${last}`)],
  [
    { ranges: [[none, { subnet: "10.0.1.0/30" }]], exclude: ["10.0.0.2/31", "10.0.0.4/30"] },
    ["10.0.0.1", "10.0.1.2"],
  ],
  [{ subnet: "2001:db8::/126", gateway: "none" }, [1, 2, 3].map((last) => `2001:db8::${last}`)],
] as const) {
  behaviour(
    `ADD hands out every address but those of network and broadcast of ${JSON.stringify(ipam)}`,
    { ipam },
    (t, network) => {
      for (const [index, address] of addresses.entries()) {
        succeeds(t, network.strictStatus());
        const answer = network.add(`c${index}`);
        t.same(answer.addresses, [address]);
        t.equal(answer.stdout.includes("gateway"), address.startsWith("10.0.1."));
      }
      fails(t, network.add("late"), 999, "no IP addresses available in range set");
      fails(t, network.strictStatus(), 50);
    },
  );
}

behaviour(
  "ADD grants what would be the gateway, and CHECK and a repeated ADD know it",
  { ipam: { ...none, repeatedAdd: "same" } },
  (t, network) => {
    const first = network.add("c1", { cniArgs: "IP=10.0.0.1" });
    t.same(first.addresses, ["10.0.0.1"]);
    succeeds(t, network.check("c1"));
    t.equal(network.add("c1").stdout, first.stdout);
  },
);

for (const gateway of ["", null]) {
  behaviour(
    `a gateway that is ${JSON.stringify(gateway)} is as if it were absent, as in the Go plugin`,
    { ipam: { ...none, gateway } },
    (t, network) => {
      t.match(JSON.parse(network.add("c1").stdout), {
        ips: [{ address: "10.0.0.2/29", gateway: "10.0.0.1" }],
      });
    },
  );
}
