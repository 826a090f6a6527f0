// test: each executable, one if short
/** The node's part of a range: `partition`. Where the podCIDR is read, and test/configuration/partition-file.test.ts; which part it is: test/ipam/partition.test.ts. */

import type { Machine } from "../harness/machine.ts";
import type { Network } from "../harness/network.ts";
import { behaviour, fails, succeeds } from "./behaviour.ts";

const range = { subnet: "10.42.0.0/26" };

const subnetEnv = (podCidr: string): string =>
  `FLANNEL_NETWORK=10.244.0.0/28\nFLANNEL_SUBNET=${podCidr}\n`;

/** Puts the node's podCIDR there, and returns the options of a call that is to read it. */
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
    const options = withPodCidr(network, "10.244.0.4/30");
    const first = JSON.parse(network.add("c0", options).stdout).ips;
    t.same(first, [{ address: "10.42.0.16/26", gateway: "10.42.0.1" }]);
    for (let at = 1; at < 16; at++) network.add(`c${at}`, options);
    t.equal(network.reserved().length, 16);
    t.ok(network.reserved().includes("10.42.0.31"));
    fails(
      t,
      network.add("c16", options),
      999,
      "no IP addresses available in range set: 10.42.0.16-10.42.0.31",
    );
    network.del("c0", options);
    fails(
      t,
      network.add("c17", { ...options, cniArgs: "IP=10.42.0.32" }),
      999,
      "failed to allocate all requested IPs: 10.42.0.32",
    );
  },
);

behaviour(
  "ADD and STATUS fail while the podCIDR cannot be told, but CHECK, DEL and GC do not",
  { ipam: {} },
  (t, network) => {
    const options = withPodCidr(network, "10.244.0.4/30");
    network.add("c1", options);
    network.add("c2", options);
    for (const podCidr of ["10.244.0.0/28", "10.245.0.4/30", undefined]) {
      if (podCidr === undefined) network.machine.remove("subnet.env");
      else withPodCidr(network, podCidr);
      const words = /podCIDR of this node|is not in FLANNEL_NETWORK/;
      fails(t, network.add("c3", options), 999, words);
      // A runtime takes a CHECK that fails for the end of a pod (CRI-O, at its start).
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
  { ipam: { reserved: { "10.42.0.16/28": "default/db-0", "10.42.0.0/28": null } } },
  (t, network) => {
    const options = withPodCidr(network, "10.244.0.4/30");
    const db = { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=db-0" };
    fails(t, network.add("c1", options), 999, "no IP addresses available in range set");
    t.same(network.add("c1", { ...options, ...db }).addresses, ["10.42.0.16"]);
    fails(
      t,
      network.add("c2", withPodCidr(network, "10.244.0.0/30")),
      999,
      "no address of range 10.42.0.1-10.42.0.62 for this node",
    );
  },
);
