// test: each executable, one if short
/** Addresses of a range that are never handed out: `exclude`. */

import { behaviour, fails, five, succeeds } from "./behaviour.ts";

for (const [what, exclude, usable] of [
  ["an address", ["10.0.0.3"], ["10.0.0.2", "10.0.0.4", "10.0.0.5", "10.0.0.6"]],
  ["both", ["10.0.0.2", "10.0.0.4/30"], ["10.0.0.3"]],
  [
    "what is outside the range",
    ["10.9.9.9", "2001:db8::/64"],
    ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"],
  ],
] as const) {
  behaviour(
    `ADD hands out every address but the excluded: ${what}`,
    { ipam: { ...five, exclude } },
    (t, network) => {
      for (const [index, address] of usable.entries()) {
        t.same(network.add(`c${index}`).addresses, [address]);
      }

      fails(t, network.add("late"), 999, "no IP addresses available in range set");
    },
  );
}

behaviour(
  "ADD takes the first usable address after the cursor, as without exclusions",
  { ipam: { ...five, exclude: ["10.0.0.4"] }, files: { "last_reserved_ip.0": "10.0.0.3" } },
  (t, network) => {
    t.same(network.add("c1").addresses, ["10.0.0.5"]);
  },
);

behaviour(
  "ADD excludes IPv6 addresses in any spelling",
  { ipam: { subnet: "2001:db8::/125", exclude: ["2001:0DB8:0::0002", "2001:db8:0:0::4/127"] } },
  (t, network) => {
    t.same(network.add("c1").addresses, ["2001:db8::3"]);
    t.same(network.add("c2").addresses, ["2001:db8::6"]);
  },
);

behaviour(
  "ADD refuses a requested address that is excluded",
  { ipam: { ...five, exclude: ["10.0.0.3"] } },
  (t, network) => {
    const refused = network.add("c1", { cniArgs: "IP=10.0.0.3" });

    fails(t, refused, 999);
    t.match(`${refused.error?.msg} ${refused.error?.details}`, "exclude");
    t.same(network.reserved(), []);
  },
);

behaviour("CHECK and DEL find an address that was excluded later", {}, (t, network) => {
  network.add("c1");
  const excluded = { ipam: { exclude: ["10.0.0.2"] } };

  succeeds(t, network.check("c1", excluded));
  succeeds(t, network.del("c1", excluded));
  t.same(network.reserved(), []);
});

behaviour(
  "STATUS does not count excluded addresses as free",
  { ipam: { ...five, exclude: ["10.0.0.3", "10.0.0.4/30"] } },
  (t, network) => {
    succeeds(t, network.strictStatus());

    network.add("c1");

    fails(t, network.strictStatus(), 50);
  },
);
