// test: cluster
/** The manifests of deploy/ and the image of the release, on a node that has another plugin. */

import { writeFileSync } from "node:fs";
import { executable, isNative } from "../harness/executable.ts";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import {
  answer,
  componentOfVersion,
  events,
  listOfAgents,
  logs,
  loseContainers,
  prepareDaemonSet,
  readiness,
  rollout,
  writeKustomization,
} from "./daemonset.ts";
import { shell } from "./operator.ts";
import { deletePods, ownAddresses, ping, podAddresses, podTable, runPods } from "./pods.ts";
import { containerdOf } from "./programs.ts";

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

/** The agent does so "within a minute"; a run of its command is added, in milliseconds. */
const LONGEST_REPLACEMENT = 75_000;

clusterScenario(
  {
    title: "The DaemonSet installs the plugin from the image of the release",
    cluster: { clusterCidr: "10.247.0.0/16", nodeCidrMaskSize: 24 },
    skip: isNative ? skipWithoutGoPlugin : "The image has the native executable.",
  },
  async (t, cluster, show) => {
    const { worker } = cluster;
    const former = goPlugin?.path ?? "";
    worker.install(former);
    for (const name of ["before", "lost"]) runPods(name);
    prepareDaemonSet(cluster);

    show("A node has the Go plugin and two pods.");
    if (componentOfVersion !== undefined) {
      writeKustomization("");
      const refusal = shell("kubectl apply --kustomize . 2>&1 || true");
      t.match(refusal, "appArmorProfile", "the API server is too old for the manifests");
      show(
        "The manifests are for Kubernetes 1.30 or later, and `kubectl apply` says so. With a component of `deploy/` it accepts them:",
        refusal,
      );
    }
    const kustomization = writeKustomization();
    const applied = shell("kubectl apply --kustomize . 2>&1");
    t.notMatch(applied, /warning/i, "nothing is warned of");
    const began = performance.now();
    shell(`${rollout} status daemonset/host-local --timeout=180s`);
    const seconds = Math.round((performance.now() - began) / 1000);
    t.ok(worker.isInstalled(executable), "the init container has installed the plugin");
    t.match(await answer("/healthz"), "[+]gc ok", "gc finds all pods alive, by their processes");
    show(
      "The operator's kustomization, to which the API server has nothing to say:",
      kustomization,
    );
    show(
      `The init container installs the plugin, and the rollout takes ${seconds} s:`,
      `${shell(`${logs} --container=install`)}\n${listOfAgents()}\n${await answer("/healthz")}`,
    );

    const { lost = "" } = podAddresses();
    await loseContainers(cluster, "lost");
    t.ok(cluster.reservations()[lost], "an address has leaked");
    writeKustomization(componentOfVersion, { 6: "--every=10s", 7: "gc --grace 10s --yes --log" });
    shell("kubectl apply --kustomize .");
    if (containerdOf() === "2") {
      await until("gc", () => !(lost in cluster.reservations()));
      show(
        `Then containerd is made to forget the pod lost, whose address ${lost} leaks; kubelet starts it again with another one. The agent releases the former one:`,
        shell(logs),
      );
    } else {
      await until("the agent", async () => (await answer("/healthz")).includes("[-]gc failed"));
      await until("the failed probe", () =>
        events().includes("HTTP probe failed with statuscode: 503"),
      );
      t.equal(readiness(), "false", "the pod is not ready");
      t.ok(cluster.reservations()[lost], "nothing is released");
      show(
        `Then containerd is made to forget the pod lost, whose address ${lost} leaks; kubelet starts it again with another one. This containerd is older than 2.1, so gc cannot tell whether the former one is dead. It releases nothing, and after the grace period (10 minutes by default, here 10 seconds) the agent is not ready any more:`,
        `${listOfAgents()}\n${await answer("/healthz")}`,
      );
      const collection = 'host-local gc --live-command "crictl pods -q" --grace 10s --now --yes';
      show(`On the node \`${collection}\` releases it:`, shell(collection));
    }
    t.same(cluster.reserved(), ownAddresses(), "what has leaked is released, and nothing else");

    writeKustomization("without-gc");
    shell(`kubectl apply --kustomize .\n${rollout} status daemonset/host-local --timeout=180s`);
    t.equal(readiness(), "true", "without gc the pod is ready");
    const used = (await answer("/metrics")).split("\n").filter((line) => /^\w+_used\{/.test(line));
    t.match(used, [/ 2$/], "it counts the addresses of the pods");
    show(
      "With the `without-gc` component, for nodes with an older containerd, it is ready, and `/metrics` counts the addresses of the two pods:",
      [listOfAgents(), await answer("/healthz"), ...used].join("\n"),
    );
    runPods("after");
    t.equal(podAddresses().after, "10.247.0.5", "a new pod gets the next address of the cursor");
    reachEachOther("before", "after");
    show(
      "A pod from before the installation reaches one from after it:",
      ping("before", podAddresses().after ?? ""),
    );

    shell("ip link add shared0 type bridge && ip address add 10.99.0.9/24 dev shared0");
    writeFileSync("/etc/cni/net.d/90-shared.conflist", JSON.stringify(bridged));
    let found: readonly string[] = [];
    await until("a finding", async () => {
      const metrics = (await answer("/metrics")).split("\n");
      found = metrics.filter((line) => line.includes("_check_findings{") && !line.endsWith(" 0"));
      return found.some((line) => line.includes('network="shared"'));
    });
    t.match(found.join("\n"), 'severity="error"', "the bridge is looked at without a program");
    show(
      "A further network has a bridge with an address that is not its gateway. The image has no program `ip`, and the metrics count it:",
      found.join("\n"),
    );
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
    show(
      "Another installer puts the Go plugin there again, and within a minute the agent puts this one back. The pods between, from meanwhile, and afterwards have the next addresses:",
      `${shell(logs)}\n${podTable()}`,
    );

    shell("kubectl delete --kustomize deploy/overlays/kubeadm");
    t.ok(worker.isInstalled(executable), "without the DaemonSet the plugin stays");
    const uninstall = "/opt/cni/bin/host-local install /opt/cni/bin --uninstall --yes";
    show(
      "After the DaemonSet was deleted, `--uninstall` on the node restores the former plugin:",
      shell(uninstall),
    );
    t.ok(worker.isInstalled(former), "the former plugin is there");
    runPods("last");
    t.equal(podAddresses().last, "10.247.0.8", "which continues");
    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
    show(
      "It serves another pod with the next address. After the end of all pods nothing is reserved.",
    );

    function reachEachOther(...names: readonly [string, string]): void {
      const addresses = podAddresses();
      for (const [from, to] of [names, names.toReversed()]) {
        t.doesNotThrow(() => ping(from ?? "", addresses[to ?? ""] ?? ""), `${from} reaches ${to}`);
      }
    }
  },
);
