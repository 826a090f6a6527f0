// test: cluster
/** The manifests of deploy/ and the image of the release, on a node that has another plugin. */

import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { imageName } from "../../scripts/release/image.ts";
import { executable, isNative } from "../harness/executable.ts";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { inRepository } from "../harness/repository.ts";
import { until } from "../harness/until.ts";
import type { Cluster } from "./cluster.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { kubectl } from "./kubectl.ts";
import { shell } from "./operator.ts";
import { deletePods, ping, podAddresses, podTable, readyContainers, runPods } from "./pods.ts";

const { HOST_LOCAL_RELEASE: release = inRepository("dist/release") } = process.env;

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(inRepository("package.json"), "utf8"),
);

/** Where the operator has the manifests. */
const directory = "/run";

const inKubeSystem = "--namespace=kube-system";
const logs = `kubectl ${inKubeSystem} logs daemonset/host-local`;
const rollout = `kubectl ${inKubeSystem} rollout`;
const agent = "http://127.0.0.1:9464";

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
    execFileSync("ctr", [
      ...["--namespace=k8s.io", "images", "import"],
      `${release}/${imageName({ version })}`,
    ]);
    cpSync(inRepository("deploy"), `${directory}/deploy`, { recursive: true });

    writeKustomization();
    const refusal = shell("kubectl apply --kustomize . 2>&1 || true");
    t.match(refusal, "appArmorProfile", "the API server is too old for the manifests as they are");
    show(
      "A node has the Go plugin and two pods. The manifests are for Kubernetes 1.30 or later, and `kubectl apply` says so:",
      refusal,
    );

    const kustomization = writeKustomization("before-kubernetes-1.30");
    shell(`kubectl apply --kustomize .\n${rollout} status daemonset/host-local --timeout=180s`);
    t.ok(worker.isInstalled(executable), "the init container has installed the plugin");
    t.match(await answer("/healthz"), "[+]gc ok", "gc finds all pods alive, by their processes");
    show("With a component of `deploy/` it is accepted:", kustomization);
    show(
      "The init container installs the plugin, and the agent becomes ready:",
      `${shell(`${logs} --container=install`)}\n${listOfAgents()}\n${await answer("/healthz")}`,
    );

    const { lost = "" } = podAddresses();
    await loseContainers(cluster, "lost");
    t.ok(cluster.reservations()[lost], "an address has leaked");
    writeKustomization("before-kubernetes-1.30", "gc --grace 10s --yes --log");
    shell("kubectl apply --kustomize .");
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
    t.same(
      Object.keys(cluster.reservations()).sort(),
      Object.values(podAddresses()).sort(),
      "by the list of crictl it is released",
    );

    writeKustomization("without-gc");
    shell(`kubectl apply --kustomize .\n${rollout} status daemonset/host-local --timeout=180s`);
    t.equal(readiness(), "true", "without gc the pod is ready");
    const used = (await answer("/metrics")).split("\n").filter((line) => /^\w+_used\{/.test(line));
    t.match(used, [/ 2$/], "it counts the addresses of the pods");
    show(
      "With the `without-gc` component, for such nodes, it is ready, and `/metrics` counts the addresses of the two pods:",
      [listOfAgents(), await answer("/healthz"), ...used].join("\n"),
    );
    runPods("after");
    t.equal(podAddresses().after, "10.247.0.5", "a new pod gets the next address of the cursor");
    reachEachOther("before", "after");
    show(
      "A pod from before the installation reaches one from after it:",
      ping("before", podAddresses().after ?? ""),
    );

    worker.install(former);
    const began = performance.now();
    runPods("between");
    await until("the plugin", () => worker.isInstalled(executable));
    const time = performance.now() - began;
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

/**
 * Writes the kustomization of docs/kubernetes-install.md, with the image of the release.
 *
 * @param component one of deploy/components, if any
 * @param gc the gc task of the agent, if it is another one
 */
function writeKustomization(component?: string, gc?: string): string {
  const components =
    component === undefined ? [] : ["components:", `  - deploy/components/${component}`];
  const patches =
    gc === undefined
      ? []
      : [
          "patches:",
          "  - target: { kind: DaemonSet, name: host-local }",
          "    patch: |",
          "      - op: replace",
          "        path: /spec/template/spec/containers/0/args/7",
          `        value: ${gc}`,
        ];
  const lines = [
    "apiVersion: kustomize.config.k8s.io/v1beta1",
    "kind: Kustomization",
    "resources:",
    "  - deploy/overlays/kubeadm",
    ...components,
    "images:",
    "  - name: registry.example.com/host-local",
    "    newName: localhost/host-local",
    `    newTag: v${version}`,
    ...patches,
  ];
  const text = `${lines.join("\n")}\n`;
  writeFileSync(`${directory}/kustomization.yaml`, text);
  return text;
}

/** What the agent answers on the node, whatever the status; empty where nobody listens. */
async function answer(path: string): Promise<string> {
  try {
    return await (await fetch(`${agent}${path}`)).text();
  } catch {
    return "";
  }
}

/** `true` or `false`, of the container of the DaemonSet. */
function readiness(): string {
  const path = "--output=jsonpath={.items[*].status.containerStatuses[*].ready}";
  return kubectl(inKubeSystem, "get", "pods", path);
}

function events(): string {
  return kubectl(inKubeSystem, "get", "events");
}

function listOfAgents(): string {
  return shell(`kubectl ${inKubeSystem} get pods`);
}

/**
 * Removes what containerd knows of a pod, without the calls of the plugin that belong to it.
 *
 * @param name the pod's name; kubelet starts it again
 */
async function loseContainers(cluster: Cluster, name: string): Promise<void> {
  const { worker } = cluster;
  const { [name]: address = "" } = podAddresses();
  const [sandbox = ""] = (cluster.reservations()[address] ?? "").split("\r\n");
  const container = (readyContainers()[name] ?? "").replace("containerd://", "");
  worker.kubelet.stop();
  for (const id of [container, sandbox]) {
    shell(`ctr --namespace=k8s.io tasks kill --signal SIGKILL ${id}`);
    // Only after the end of its processes.
    await until("the removal", () => shell(`ctr --namespace=k8s.io containers rm ${id}`) === "");
  }
  worker.containerd.stop();
  worker.containerd.start();
  worker.kubelet.start();
  await until("another address", () => ![address, undefined].includes(podAddresses()[name]));
}
