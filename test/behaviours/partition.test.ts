// test: each executable, one if short, sees the node
/**
 * The node's part of a range: `partition`. test/configuration/partition-file.test.ts tests where the podCIDR is read, and
 * test/ipam/partition.test.ts which part it is.
 */

import type { Machine } from "../harness/machine.ts";
import type { Network } from "../harness/network.ts";
import { behaviour, fails, succeeds } from "./behaviour.ts";

const range = { subnet: "198.51.100.0/26" };

const subnetEnv = (podCidr: string): string =>
  `FLANNEL_NETWORK=203.0.113.0/28\nFLANNEL_SUBNET=${podCidr}\n`;

/** Puts the node's podCIDR into its file, and returns the options of a call that reads it. */
function withPodCidr(
  { machine }: Network<Machine>,
  podCidr: string,
  ranges: readonly object[] = [[range]],
) {
  machine.put("subnet.env", subnetEnv(podCidr));
  const subnetFile = `${machine.dataDirectory}/subnet.env`;
  return { ipam: { partition: { subnetFile, ranges } } };
}

behaviour(
  "ADD hands out the first and last address of the part, and the range's gateway, and no other node's address",
  { ipam: {} },
  (t, network) => {
    const options = withPodCidr(network, "203.0.113.4/30");
    const first = JSON.parse(network.add("c0", options).stdout).ips;
    t.same(first, [{ address: "198.51.100.16/26", gateway: "198.51.100.1" }]);
    for (let at = 1; at < 16; at++) network.add(`c${at}`, options);
    t.equal(network.reserved().length, 16);
    t.ok(network.reserved().includes("198.51.100.31"));
    fails(
      t,
      network.add("c16", options),
      999,
      "no IP addresses available in range set: 198.51.100.16-198.51.100.31",
    );
    network.del("c0", options);
    fails(
      t,
      network.add("c17", { ...options, cniArgs: "IP=198.51.100.32" }),
      999,
      "failed to allocate all requested IPs: 198.51.100.32",
    );
  },
);

behaviour(
  "ADD and STATUS fail while the podCIDR cannot be told, but CHECK, DEL and GC do not",
  { ipam: {}, needs: ["sees the node"] },
  (t, network) => {
    const options = withPodCidr(network, "203.0.113.4/30");
    network.add("c1", options);
    network.add("c2", options);
    for (const podCidr of ["203.0.113.0/28", "192.0.2.4/30", undefined]) {
      if (podCidr === undefined) network.machine.remove("subnet.env");
      else withPodCidr(network, podCidr);
      const words = /podCIDR of this node|is not in FLANNEL_NETWORK/;
      fails(t, network.add("c3", options), 999, words);
      // A runtime takes a failed CHECK for the end of a pod (CRI-O, at its start).
      succeeds(t, network.check("c1", options));
      fails(t, network.status(options), 50, words);
    }
    succeeds(t, network.del("c1", options));
    succeeds(t, network.gc([], options));
    t.same(network.reserved(), []);
  },
);

behaviour(
  "ADD of a part of which every address is reserved for a pod serves that pod",
  { ipam: { reserved: { "198.51.100.16/28": "default/db-0", "198.51.100.0/28": null } } },
  (t, network) => {
    const options = withPodCidr(network, "203.0.113.4/30");
    const db = { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=db-0" };
    fails(t, network.add("c1", options), 999, "no IP addresses available in range set");
    t.same(network.add("c1", { ...options, ...db }).addresses, ["198.51.100.16"]);
    fails(
      t,
      network.add("c2", withPodCidr(network, "203.0.113.0/30")),
      999,
      "no address of range 198.51.100.1-198.51.100.62 for this node",
    );
  },
);
