// test: cluster, sees the node, makes namespaces, mounts
/** A pod has an address of each family. */

import { clusterScenario } from "./cluster-scenario.ts";
import { create, kubectl } from "./kubectl.ts";
import { shell } from "./operator.ts";
import { deletePods, ping, runPods } from "./pods.ts";

const clusterCidr = "10.248.0.0/16";
const ipv6 = { clusterCidr: "fd00:248::/56", nodeCidrMaskSize: 64 };

const services = "kubectl get servicecidrs -o jsonpath='{.items[*].spec.cidrs[*]}' | tr ' ' ,";

const audit = `kubectl get nodes -o json | host-local audit --cluster-cidr ${clusterCidr},${ipv6.clusterCidr} --service-cidr "$(${services})"`;

clusterScenario(
  {
    title: "An address of each family",
    cluster: { clusterCidr, nodeCidrMaskSize: 27, ipv6, maxPods: 29 },
  },
  async (t, cluster) => {
    runPods("a", "b", "c");
    const addresses = cluster.reserved();
    t.same(
      addresses,
      ["10.248.0.2", "10.248.0.3", "10.248.0.4", "fd00:248::2", "fd00:248::3", "fd00:248::4"],
      "each pod has one of each family",
    );
    const second = kubectl("get", "pod", "b", "--output=jsonpath={.status.podIPs[1].ip}");
    t.ok(addresses.includes(second), "the API knows both");
    t.doesNotThrow(() => ping("a", second), "a pod reaches another by IPv6");
    t.equal(shell("host-local check >/dev/null; echo $?"), "0\n", "check finds nothing wrong");

    create([
      {
        apiVersion: "networking.k8s.io/v1",
        kind: "ServiceCIDR",
        metadata: { name: "further" },
        spec: { cidrs: ["10.97.0.0/24", "fd00:97::/112"] },
      },
    ]);
    const audited = shell(audit);
    t.match(audited, "No problems found.");

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);
