// test: each executable, one if short, sees the node
/** Ranges from a file of the node: `rangesFile`. test/configuration/ranges-file.test.ts tests the errors in such a file. */

import type { Machine } from "../harness/machine.ts";
import type { Network } from "../harness/network.ts";
import { behaviour, changesNothing, fails, succeeds } from "./behaviour.ts";

/** Writes the file, and returns the options of a call that reads it. */
function withFile({ machine }: Network<Machine>, text: string, ipam: object = {}) {
  machine.put("ranges", text);
  return { ipam: { rangesFile: `${machine.dataDirectory}/ranges`, ...ipam } };
}

const json = JSON.stringify({
  net: [
    [{ subnet: "198.51.100.0/29", gateway: "198.51.100.6" }],
    [{ subnet: "2001:db8:42::/125" }],
  ],
  other: [[{ subnet: "203.0.113.0/29" }]],
});

behaviour(
  "ADD takes the ranges of its network out of the file, with all their members",
  { ipam: {} },
  (t, network) => {
    const options = withFile(network, json);

    t.match(JSON.parse(network.add("c1", options).stdout).ips, [
      { address: "198.51.100.1/29", gateway: "198.51.100.6" },
      { address: "2001:db8:42::2/125", gateway: "2001:db8:42::1" },
    ]);
    t.same(network.add("c2", { ...options, top: { name: "other" } }).addresses, ["203.0.113.2"]);
    succeeds(t, network.check("c1", options));
    succeeds(t, network.status(options));
  },
);

for (const [what, text, words] of [
  ["that is missing", undefined, /^cannot read rangesFile: open .+\/ranges: no such file/],
  [
    "of flannel that is cut off",
    "FLANNEL_NETWORK=198.18.0.0/16\nFLANNEL_SUBNET=198.18.1.1/2",
    "FLANNEL_NETWORK 198.18.0.0/16 without FLANNEL_SUBNET",
  ],
] as const) {
  behaviour(
    `ADD and STATUS fail with a file ${what}, but CHECK, DEL and GC do not`,
    { ipam: {}, needs: ["sees the node"] },
    (t, network) => {
      const options = withFile(network, json);
      network.add("c1", options);
      network.add("c2", options);
      network.machine.remove("ranges");
      if (text !== undefined) network.machine.put("ranges", text);

      fails(t, network.add("c3", options), 999, words);
      fails(t, network.status(options), 50, words);
      // A runtime takes a failed CHECK for the end of a pod (CRI-O, at its start).
      succeeds(t, network.check("c1", options));
      succeeds(t, network.del("c1", options));
      succeeds(t, network.gc([], options));
      t.same(network.reserved(), []);
    },
  );
}

behaviour(
  "ADD refuses a relative path, since it would depend on the runtime's working directory",
  { ipam: { rangesFile: "ranges.json" } },
  (t, network) => {
    changesNothing(t, network, () => {
      fails(t, network.add("c1"), 999, "invalid rangesFile: ranges.json");
    });
  },
);
