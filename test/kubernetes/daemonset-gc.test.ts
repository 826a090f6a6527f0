// test: cluster, sees the node, makes namespaces, mounts
/** The DaemonSet of deploy/ with a containerd that records network namespaces: its gc works by itself. */

import { isNative } from "../harness/executable.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import {
  answer,
  gcEvery10s,
  logs,
  prepareDaemonSet,
  rollout,
  writeKustomization,
} from "./daemonset.ts";
import { refusalOf } from "./kubectl.ts";
import { shell } from "./operator.ts";
import { deletePods, ownAddresses, podAddresses, readyContainers, runPods } from "./pods.ts";
import { failPower } from "./power.ts";

/** How long pods may wait for gc and for kubelet's next attempts, in seconds. */
const PATIENCE = 600;

clusterScenario(
  {
    title: "The gc of the DaemonSet frees what a crash leaves, also in a full range",
    cluster: { clusterCidr: "10.249.0.0/24", nodeCidrMaskSize: 29 },
    asContainer: true,
    skip: isNative ? false : "The image has the native executable.",
  },
  async (t, cluster) => {
    const { worker } = cluster;
    const refusals = () => Object.keys(podAddresses()).flatMap((name) => refusalOf(name) ?? []);
    prepareDaemonSet(cluster);
    runPods("a", "b");
    writeKustomization(gcEvery10s);
    shell(`kubectl apply --kustomize .\n${rollout} status daemonset/host-local --timeout=600s`);

    const before = ownAddresses();
    await crash();
    await cluster.restartNode();
    const returned = { addresses: podAddresses(), containers: readyContainers() };
    await until(
      "gc",
      () => before.every((address) => !(address in cluster.reservations())),
      PATIENCE,
    );
    t.same(
      { addresses: podAddresses(), containers: readyContainers() },
      returned,
      "the living keep addresses and containers",
    );
    t.same(cluster.reserved(), ownAddresses(), "only theirs are reserved");
    const released = shell(logs);
    for (const address of before) t.match(released, `released ${address} of `);
    t.match(await answer("/healthz"), "[+]gc ok");

    runPods("c", "d", "e");
    const full = ownAddresses();
    t.equal(full.length, 5, "the range is full");
    await crash();
    await cluster.startNode();
    await until("the refusal", () => refusals().length > 0, PATIENCE);
    const lost = returned.containers.a;
    await until(
      "the pods",
      () => {
        const now = readyContainers();
        return Object.keys(now).length === 5 && now.a !== lost;
      },
      PATIENCE,
    );
    t.same(cluster.reserved(), ownAddresses(), "nothing is left over");

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");

    async function crash(): Promise<void> {
      await failPower(cluster);
      worker.loseContainerdState();
    }
  },
);
