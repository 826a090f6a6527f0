/** What an entry of libcni's cache says, in the form in which libcni writes it and in any other. */

import { test } from "tap";
import type { CachedAttachment } from "../../../../src/operator/alive/cache/cached-attachment.ts";
import { ResultsCache } from "../../../../src/operator/alive/cache/results-cache.ts";
import { MemoryMachine } from "../../../harness/memory-machine.ts";
import { contextOf, startOperator } from "../../memory-node.ts";

/** The members of an entry, in libcni's order. */
const members: Readonly<Record<string, unknown>> = {
  kind: "cniCacheV1",
  containerId: "c1",
  config: "e30=",
  ifName: "eth0",
  networkName: "net",
  netns: "/run/netns/cni-1",
  cniArgs: [
    ["K8S_POD_NAMESPACE", "default"],
    ["K8S_POD_NAME", "web"],
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

const usual = JSON.stringify(members);

const cases: Readonly<Record<string, readonly [text: string, CachedAttachment | undefined]>> = {
  "as libcni writes it": [usual, known],
  "with white space": [JSON.stringify(members, null, 2), known],
  "without a namespace, as libcni before 1.3": [
    JSON.stringify({ ...members, netns: undefined }),
    { ...known, networkNamespace: "" },
  ],
  "without a result and arguments": [
    JSON.stringify({ ...members, cniArgs: undefined, result: undefined }),
    { ...known, addresses: [], gateways: [], hostInterfaces: [], pod: "" },
  ],
  "with arguments that repeat, as those of multus: the last count": [
    JSON.stringify({
      ...members,
      cniArgs: [
        ["K8S_POD_NAMESPACE", "kube-system"],
        ["K8S_POD_NAME", "first"],
        ["K8S_POD_NAMESPACE", "default"],
        ["K8S_POD_NAME", "web"],
      ],
    }),
    known,
  ],
  "with the name of a pod alone, as from podman": [
    JSON.stringify({ ...members, cniArgs: [["K8S_POD_NAME", "web"]] }),
    { ...known, pod: "web" },
  ],
  "with the job of Nomad": [
    JSON.stringify({
      ...members,
      cniArgs: [
        ["NOMAD_ALLOC_ID", "8a2b1c9d-0e4f-4a6b-9c8d-1e2f3a4b5c6d"],
        ["NOMAD_GROUP_NAME", "front"],
        ["NOMAD_JOB_ID", "web"],
        ["NOMAD_NAMESPACE", "default"],
      ],
    }),
    known,
  ],
  "with an empty namespace of the pod": [
    usual.replace('["K8S_POD_NAMESPACE","default"]', '["K8S_POD_NAMESPACE",""]'),
    { ...known, pod: "web" },
  ],
  "without a container": [JSON.stringify({ ...members, containerId: "" }), undefined],
  "that is cut": [usual.slice(0, -1), undefined],
};

for (const [what, [text, expected]] of Object.entries(cases)) {
  test(`an entry ${what}`, async (t) => {
    const machine = new MemoryMachine();
    machine.disk.put("/var/lib/cni/results/net-c1-eth0", text);
    const cache = new ResultsCache(contextOf(startOperator(machine).system));
    const { attachments } = cache.knownBut(() => []);
    const found = attachments.map((one) => {
      const { network, containerId, interfaceName, networkNamespace } = one;
      const { addresses, gateways, hostInterfaces, pod } = one;
      const ids = { network, containerId, interfaceName, networkNamespace };
      return { ...ids, addresses, gateways, hostInterfaces, pod };
    });
    t.strictSame(found, expected === undefined ? [] : [expected]);
  });
}
