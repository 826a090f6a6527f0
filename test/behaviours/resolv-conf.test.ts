// test: each executable, one if short
/** `resolvConf`: a file of the node, which every ADD copies into the result's `dns`. */

import { behaviour, changesNothing, fails, five, succeeds } from "./behaviour.ts";

const missing = "/var/lib/cni/no-such-resolv.conf";
const words = `open ${missing}: no such file or directory`;

behaviour(
  "ADD and STATUS name the key of a resolvConf that is missing; CHECK, DEL and GC do not need it",
  { ipam: five },
  (t, network) => {
    network.add("c1");
    const ipam = { resolvConf: missing };
    changesNothing(t, network, () => {
      for (const [refused, code] of [
        [network.add("c2", { ipam }), 999],
        [network.status({ ipam }), 50],
      ] as const) {
        fails(t, refused, code, words);
        t.match(refused.error?.details, "the path in ipam.resolvConf");
      }
      succeeds(t, network.check("c1", { ipam }));
    });
    succeeds(t, network.del("c1", { ipam }));
  },
);
