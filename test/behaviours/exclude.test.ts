// test: each executable, one if short
/** Addresses of a range that are never handed out: `exclude`. */

import { behaviour, fails, five, succeeds } from "./behaviour.ts";

behaviour(
  "ADD hands out every address but the excluded, in any spelling",
  {
    ipam: {
      ranges: [[five], [{ subnet: "2001:db8::/126" }]],
      exclude: ["198.51.100.2", "198.51.100.4/31", "203.0.113.9", "2001:0DB8:0::0002"],
    },
  },
  (t, network) => {
    t.same(network.add("c1").addresses, ["198.51.100.3", "2001:db8::3"]);
    network.del("c1");
    t.same(network.add("c2").addresses, ["198.51.100.6", "2001:db8::3"]);
    fails(t, network.add("late"), 999, "no IP addresses available in range set");
    fails(t, network.add("c3", { cniArgs: "IP=198.51.100.5" }), 999, "198.51.100.5 is excluded");
  },
);

behaviour("CHECK and DEL find an address that was excluded later", {}, (t, network) => {
  network.add("c1");
  const excluded = { ipam: { exclude: ["198.51.100.2"] } };

  succeeds(t, network.check("c1", excluded));
  succeeds(t, network.del("c1", excluded));
  t.same(network.reserved(), []);
});

behaviour(
  "STATUS does not count excluded addresses as free",
  { ipam: { ...five, exclude: ["198.51.100.3", "198.51.100.4/30"] } },
  (t, network) => {
    succeeds(t, network.strictStatus());

    network.add("c1");

    fails(t, network.strictStatus(), 50);
  },
);
