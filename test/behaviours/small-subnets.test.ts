// test: each executable, one if short
/** Subnets of one or two addresses: no network address, no broadcast, no gateway. */

import { behaviour, fails, succeeds } from "./behaviour.ts";

const two = { subnet: "198.51.100.0/31" };

behaviour(
  "ADD hands out every address, and hands it out again, without a gateway",
  { ipam: {} },
  (t, network) => {
    for (const [ipam, addresses] of [
      [two, ["198.51.100.0", "198.51.100.1"]],
      [{ subnet: "198.51.100.5/32" }, ["198.51.100.5"]],
      [{ subnet: "2001:db8:40::/127" }, ["2001:db8:40::", "2001:db8:40::1"]],
      [{ subnet: "2001:db8:40::/128" }, ["2001:db8:40::"]],
      [{ ...two, exclude: ["198.51.100.0"] }, ["198.51.100.1"]],
    ] as const) {
      for (const round of [1, 2]) {
        for (const [index, address] of addresses.entries()) {
          const answer = network.add(`c${index}`, { ipam });
          t.same(answer.addresses, [address], `round ${round}`);
          t.notMatch(answer.stdout, "gateway");
        }
        fails(t, network.add("late", { ipam }), 999, "no IP addresses available in range set");
        for (const index of addresses.keys()) {
          succeeds(t, network.check(`c${index}`, { ipam }));
          succeeds(t, network.del(`c${index}`, { ipam }));
        }
      }
      t.same(network.reserved(), []);
    }
  },
);

behaviour(
  "ADD names a gateway that is configured, and does not hand it out",
  { ipam: { ...two, gateway: "198.51.100.0" } },
  (t, network) => {
    t.strictSame(JSON.parse(network.add("c1").stdout), {
      cniVersion: "1.1.0",
      ips: [{ address: "198.51.100.1/31", gateway: "198.51.100.0" }],
    });
    const requested = network.add("c2", { cniArgs: "IP=198.51.100.0" });
    fails(t, requested, 999, "requested ip 198.51.100.0 is subnet's gateway");
  },
);

behaviour(
  "STATUS counts both addresses, and knows that a lone gateway leaves none",
  { ipam: two },
  (t, network) => {
    network.add("c1");
    succeeds(t, network.strictStatus());
    network.add("c2");
    fails(t, network.strictStatus(), 50);

    const lone = { subnet: "198.51.100.5/32", gateway: "198.51.100.5" };
    fails(t, network.status({ ipam: lone }), 50);
  },
);
