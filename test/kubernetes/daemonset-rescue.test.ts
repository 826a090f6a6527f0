// test: cluster, sees the node, makes namespaces, mounts
/** A node of the Go plugin on which no pod starts any more, and the DaemonSet of deploy/. */

import { isNative } from "../harness/executable.ts";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { gcEvery10s, prepareDaemonSet, writeKustomization } from "./daemonset.ts";
import { refusalOf } from "./kubectl.ts";
import { pass20Minutes, shell } from "./operator.ts";
import { deletePods, ownAddresses, readyContainers, runPods } from "./pods.ts";
import { failPower } from "./power.ts";

/** As many pods as a /28 has addresses. */
const names = Array.from({ length: 13 }, (_, at) => `pod-${at}`);

clusterScenario(
  {
    title: "A node of the Go plugin whose range is full of dead pods",
    cluster: { clusterCidr: "10.253.0.0/24", nodeCidrMaskSize: 28 },
    asContainer: true,
    skip: isNative ? skipWithoutGoPlugin : "The image has the native executable.",
  },
  async (t, cluster) => {
    const { worker } = cluster;
    worker.install(goPlugin?.path ?? "");
    prepareDaemonSet(cluster);
    runPods(...names);
    const before = readyContainers();

    await failPower(cluster);
    worker.loseContainerdState();
    await cluster.startNode();
    const areNew = () => {
      const now = readyContainers();
      return names.filter((name) => now[name] !== undefined && now[name] !== before[name]);
    };
    await until("the refusals", () => names.every((name) => refusalOf(name) !== undefined), 300);
    t.same(areNew(), [], "with the Go plugin no pod comes back");

    pass20Minutes();
    writeKustomization(gcEvery10s);
    const began = performance.now();
    shell("kubectl apply --kustomize .");
    await until("the pods", () => areNew().length === names.length, 300);
    const seconds = Math.round((performance.now() - began) / 1000);
    t.ok(seconds < 60, "within a minute");
    const addresses = ownAddresses();
    t.equal(new Set(addresses).size, names.length, "each has an address of its own");
    t.same(cluster.reserved(), addresses, "and only these are reserved");

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);
