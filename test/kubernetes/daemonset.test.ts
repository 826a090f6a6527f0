// test: cluster, sees the node, makes namespaces, mounts
/** The manifests of deploy/ and the image of the release, on a node that has another plugin. */

import { writeFileSync } from "node:fs";
import { executable, isNative } from "../harness/executable.ts";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import {
  answer,
  gcEvery10s,
  loseContainers,
  prepareDaemonSet,
  readiness,
  rollout,
  writeKustomization,
} from "./daemonset.ts";
import { shell } from "./operator.ts";
import { deletePods, ownAddresses, ping, podAddresses, runPods } from "./pods.ts";

/** A network that no pod uses. */
const bridged = {
  cniVersion: "1.0.0",
  name: "shared",
  plugins: [
    {
      type: "bridge",
      bridge: "shared0",
      isGateway: true,
      ipam: { type: "host-local", ranges: [[{ subnet: "10.99.0.0/24" }]] },
    },
  ],
};

/** The longest that the agent takes for a replacement, in milliseconds: "within a minute", and a run of its command. */
const LONGEST_REPLACEMENT = 75_000;

clusterScenario(
  {
    title: "The DaemonSet installs the plugin from the image of the release",
    cluster: { clusterCidr: "10.247.0.0/16", nodeCidrMaskSize: 24 },
    asContainer: true,
    skip: isNative ? skipWithoutGoPlugin : "The image has the native executable.",
  },
  async (t, cluster) => {
    const { worker } = cluster;
    const former = goPlugin?.path ?? "";
    worker.install(former);
    for (const name of ["before", "lost"]) runPods(name);
    prepareDaemonSet(cluster);

    writeKustomization();
    const applied = shell("kubectl apply --kustomize . 2>&1");
    t.notMatch(applied, /warning/i, "nothing is warned of");
    shell(`${rollout} status daemonset/host-local --timeout=180s`);
    t.ok(worker.isInstalled(executable), "the init container has installed the plugin");
    t.match(await answer("/healthz"), "[+]gc ok", "gc finds all pods alive, by their processes");

    const { lost = "" } = podAddresses();
    await loseContainers(cluster, "lost");
    t.ok(cluster.reservations()[lost], "an address has leaked");
    writeKustomization(gcEvery10s);
    shell("kubectl apply --kustomize .");
    await until("gc", () => !(lost in cluster.reservations()));
    t.same(cluster.reserved(), ownAddresses(), "what has leaked is released, and nothing else");

    writeKustomization({ component: "without-gc" });
    shell(`kubectl apply --kustomize .\n${rollout} status daemonset/host-local --timeout=180s`);
    t.equal(readiness(), "true", "without gc the pod is ready");
    const used = (await answer("/metrics")).split("\n").filter((line) => /^\w+_used\{/.test(line));
    t.match(used, [/ 2$/], "it counts the addresses of the pods");
    runPods("after");
    t.equal(podAddresses().after, "10.247.0.5", "a new pod gets the next address of the cursor");
    reachEachOther("before", "after");

    shell("ip link add shared0 type bridge && ip address add 10.99.0.9/24 dev shared0");
    writeFileSync("/etc/cni/net.d/90-shared.conflist", JSON.stringify(bridged));
    let found: readonly string[] = [];
    await until("a finding", async () => {
      const metrics = (await answer("/metrics")).split("\n");
      found = metrics.filter((line) => line.includes("_check_findings{") && !line.endsWith(" 0"));
      return found.some((line) => line.includes('network="shared"'));
    });
    t.match(found.join("\n"), 'severity="error"', "the bridge is looked at without a program");
    shell("rm /etc/cni/net.d/90-shared.conflist && ip link delete shared0");

    worker.install(former);
    const replaced = performance.now();
    runPods("between");
    await until("the plugin", () => worker.isInstalled(executable));
    const time = performance.now() - replaced;
    t.ok(time < LONGEST_REPLACEMENT, "within a minute the agent puts the plugin back");
    runPods("afterwards");
    t.same(
      podAddresses(),
      {
        before: "10.247.0.2",
        lost: "10.247.0.4",
        after: "10.247.0.5",
        between: "10.247.0.6",
        afterwards: "10.247.0.7",
      },
      "pods from meanwhile and from afterwards get the next addresses",
    );
    reachEachOther("between", "afterwards");

    shell("kubectl delete --kustomize deploy/overlays/kubeadm");
    t.ok(worker.isInstalled(executable), "without the DaemonSet the plugin stays");
    shell("/opt/cni/bin/host-local install /opt/cni/bin --uninstall --yes");
    t.ok(worker.isInstalled(former), "the former plugin is there");
    runPods("last");
    t.equal(podAddresses().last, "10.247.0.8", "which continues");
    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");

    function reachEachOther(...names: readonly [string, string]): void {
      const addresses = podAddresses();
      for (const [from, to] of [names, names.toReversed()]) {
        t.doesNotThrow(() => ping(from ?? "", addresses[to ?? ""] ?? ""), `${from} reaches ${to}`);
      }
    }
  },
);
