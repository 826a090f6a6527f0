// test: cluster, sees the node, makes namespaces, mounts
/** Many pods come and go at the same time. */

import { nodeNamespaces } from "../e2e/node-namespaces.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, kubectl } from "./kubectl.ts";
import { listPods, podNamed } from "./pods.ts";

/** How many pods a wave has. */
const SIZE = 16;

const waves = ["first", "second", "third", "fourth"];

clusterScenario(
  {
    title: "64 pods in waves",
    // 61 addresses: the last wave gets some of those that the first had.
    cluster: { clusterCidr: "10.248.0.0/24", nodeCidrMaskSize: 26 },
  },
  async (t, cluster) => {
    const twice = new Set<string>();
    /** Looks at the addresses of pods in the API, and at those in all network namespaces. */
    const look = () => {
      const pods = listPods().filter(({ isEnding }) => !isEnding);
      const inNamespaces = nodeNamespaces().flatMap(({ addresses }) => addresses);
      for (const address of repeated(pods.flatMap(({ address }) => address ?? []))) {
        twice.add(`${address} in the API`);
      }
      for (const address of repeated(inNamespaces)) twice.add(`${address} in namespaces`);
      return { pods, inNamespaces };
    };

    let living: readonly string[] = [];
    for (const wave of waves) {
      const leaving = living.slice(-SIZE / 2);
      const created = Array.from({ length: SIZE }, (_, index) => `${wave}-${index}`);
      if (leaving.length > 0) kubectl("delete", "pods", "--wait=false", ...leaving);
      create(created.map((name) => podNamed(name)));
      living = [...living.filter((name) => !leaving.includes(name)), ...created];
      let seen = look();
      await until(`the ${wave} wave`, () => {
        seen = look();
        const ready = seen.pods.flatMap(({ name, container }) => (container ? [name] : []));
        const isAlone = seen.pods.length === seen.inNamespaces.length;
        return isAlone && ready.length === seen.pods.length && ready.length === living.length;
      });
      const inApi = seen.pods.map(({ address }) => address);
      t.same(inApi.sort(), [...seen.inNamespaces].sort(), `${wave} wave: API and namespaces agree`);
      t.same(inApi, cluster.reserved(), "and the reservations with them");
    }
    t.same([...twice], [], "no address was seen twice");
    t.equal(
      kubectl("get", "events", "--field-selector=reason=FailedCreatePodSandBox", "--output=name"),
      "",
      "no sandbox failed",
    );

    kubectl("delete", "pods", "--wait=false", "--all");
    await until("the end of the network namespaces", () => nodeNamespaces().length === 0);
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);

function repeated(addresses: readonly string[]): readonly string[] {
  return addresses.filter((address, index) => addresses.indexOf(address) !== index);
}
