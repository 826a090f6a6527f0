/** What an entry of libcni's cache says, in the form in which libcni writes it. */

import { test } from "tap";
import type { CachedAttachment } from "../../../../src/operator/alive/cache/cached-attachment.ts";
import { ResultsCache } from "../../../../src/operator/alive/cache/results-cache.ts";
import { MemoryMachine } from "../../../harness/memory-machine.ts";
import { contextOf, startOperator } from "../../memory-node.ts";

/** The members of an entry, in libcni's order. */
const members = {
  kind: "cniCacheV1",
  containerId: "c1",
  config: "e30=",
  ifName: "eth0",
  networkName: "net",
  netns: "/run/netns/cni-1",
  cniArgs: [
    ["NOMAD_ALLOC_ID", "8a2b1c9d-0e4f-4a6b-9c8d-1e2f3a4b5c6d"],
    ["NOMAD_GROUP_NAME", "front"],
    ["NOMAD_JOB_ID", "web"],
    ["NOMAD_NAMESPACE", "default"],
  ],
  result: {
    cniVersion: "1.0.0",
    interfaces: [
      { name: "cni0", mac: "02:00:00:00:00:01" },
      { name: "veth1" },
      { name: "eth0", sandbox: "/run/netns/cni-1" },
    ],
    ips: [{ address: "10.7.9.2/24", gateway: "10.7.9.1" }, { address: "FD00::07/64" }],
  },
};

const known: CachedAttachment = {
  network: "net",
  containerId: "c1",
  interfaceName: "eth0",
  networkNamespace: "/run/netns/cni-1",
  addresses: ["10.7.9.2", "fd00::7"],
  gateways: ["10.7.9.1"],
  hostInterfaces: ["cni0", "veth1"],
  pod: "default/web",
};

for (const [what, entry, expected] of [
  ["with the job of Nomad", members, [known]],
  ["without a container", { ...members, containerId: "" }, []],
] as const) {
  test(`an entry ${what}`, async (t) => {
    const machine = new MemoryMachine();
    machine.disk.put("/var/lib/cni/results/net-c1-eth0", JSON.stringify(entry));
    const cache = new ResultsCache(contextOf(startOperator(machine).system));
    const { attachments } = cache.knownBut(() => []);
    const found = attachments.map((attachment) => {
      const { network, containerId, interfaceName, networkNamespace } = attachment;
      const { addresses, gateways, hostInterfaces, pod } = attachment;
      const ids = { network, containerId, interfaceName, networkNamespace };
      return { ...ids, addresses, gateways, hostInterfaces, pod };
    });
    t.strictSame(found, expected);
  });
}
