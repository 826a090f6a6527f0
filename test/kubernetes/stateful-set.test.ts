// test: cluster, sees the node, makes namespaces, mounts
/** Pods with addresses of their own are force-deleted while other pods wait for any address. */

import { readExample } from "../e2e/example.ts";
import { addressesInTwo } from "../e2e/node-namespaces.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, kubectl, refusalOf } from "./kubectl.ts";
import { deletePods, podAddresses, podNamed, readyContainers, runPods } from "./pods.ts";

const annotation = "example.com/ip";

/** The pods of the StatefulSets, and the addresses that they must have. */
const own = { "db-0": "10.241.0.2", "db-1": "10.241.0.3", "cache-0": "10.241.0.6" };

const names = Object.keys(own);

const reserved = Object.fromEntries(
  Object.entries(own).map(([name, address]) => [address, `default/${name}`]),
);

const template = readExample("containerd.conflist.template")
  .replace(
    '"type": "ptp",',
    '"type": "ptp",\n      "capabilities": { "io.kubernetes.cri.pod-annotations": true },',
  )
  .replace(
    '"ranges"',
    `"reserved": ${JSON.stringify(reserved)}, "requested": { "by": ["${annotation}"] },\n        "ranges"`,
  );

clusterScenario(
  {
    title: "StatefulSets with reserved and requested are force-deleted in a full range",
    cluster: { clusterCidr: "10.241.0.0/24", nodeCidrMaskSize: 29, template },
  },
  async (t, cluster) => {
    create([statefulSet("db", 2), statefulSet("cache", 1, { [annotation]: own["cache-0"] })]);
    await until("the StatefulSets", () => names.every((name) => name in readyContainers()));
    runPods("web-0", "web-1");
    t.equal(cluster.reserved().length, 5, "the range is full");
    create(["waiting-0", "waiting-1"].map((name) => podNamed(name)));
    await until("the refusals", () => refusalOf("waiting-1") !== undefined);

    const twice = new Set<string>();
    for (const round of [1, 2, 3, 4, 5]) {
      const former = readyContainers();
      kubectl("delete", "pods", "--force", "--grace-period=0", ...names);
      await until("the next pods", () => {
        for (const address of addressesInTwo()) twice.add(address);
        const now = readyContainers();
        return names.every((name) => now[name] !== undefined && now[name] !== former[name]);
      });
      const { "db-0": first, "db-1": second, "cache-0": asking, ...others } = podAddresses();
      t.same({ "db-0": first, "db-1": second, "cache-0": asking }, own, `round ${round}: the same`);
      t.same(Object.keys(others), ["web-0", "web-1"], "and no other pod has got one of them");
    }
    t.same([...twice], [], "no address was in two network namespaces");

    kubectl("delete", "statefulsets", "--all", "--cascade=foreground");
    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);

function statefulSet(
  name: string,
  replicas: number,
  annotations: Readonly<Record<string, string>> = {},
): object {
  const labels = { app: name };
  const { spec } = podNamed(name);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: "Parallel",
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec },
    },
  };
}
