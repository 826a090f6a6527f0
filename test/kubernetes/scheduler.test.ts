// test: cluster, sees the node, makes namespaces, mounts
/** The scheduler counts addresses, so that a pod without one waits before it is placed. */

import { readFileSync } from "node:fs";
import type { IDaemonSet } from "kubernetes-models/apps/v1";
import type { IPod } from "kubernetes-models/v1";
import type { Test } from "tap";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, eventsOf, kubectl, waitFor } from "./kubectl.ts";
import { printedCommand, shell } from "./operator.ts";
import { deletePods, podNamed, runPods } from "./pods.ts";
import { kubeletConfiguration, nodeName } from "./worker.ts";

const page = "docs/scheduling.md";

const resource = "example.com/pod-ips";

/** The directory from which node-feature-discovery reads features. */
const features = "/etc/kubernetes/node-feature-discovery/features.d";

/** The resources of a pod in docs/scheduling.md. */
const requests = { requests: { [resource]: "1" }, limits: { [resource]: "1" } };

/** As many pods as a /29 has addresses. */
const five = ["first", "second", "third", "fourth", "fifth"] as const;

clusterScenario(
  {
    title: "The scheduler counts addresses",
    cluster: { clusterCidr: "10.250.0.0/24", nodeCidrMaskSize: 29 },
  },
  async (t) => {
    create([proxy()]);
    kubectl("rollout", "status", "daemonset/proxy", "--timeout=180s");

    const patch = printedCommand(page, "kubectl patch node");
    shell(patch);
    await allocatable(resource, "5");
    await sixthWaits(t, requestingPod, `Insufficient ${resource}.`);

    patchStatus({ op: "remove", path: pathOfResource() });
    await allocatable(resource, "");
    const write = printedCommand(page, "--node-feature");
    shell(`mkdir -p ${features} && ${write}`);
    const file = readFileSync(`${features}/host-local.containerd`, "utf8");
    // The test does the work of node-feature-discovery, which Debian does not have.
    for (const [name, value] of featuresIn(file)) {
      t.equal(name, resource, "the feature has the name of the resource");
      patchStatus({ op: "add", path: pathOfResource(), value });
    }
    await allocatable(resource, "5");
    await sixthWaits(t, requestingPod, `Insufficient ${resource}.`);

    const hostNetworkPods = shell(printedCommand(page, "kubectl get pods -A")).trim();
    t.equal(hostNetworkPods, "1", "the command of the page counts the pods with hostNetwork");
    const maxPods = printedCommand(page, "--max-pods").replace("pods 3", `pods ${hostNetworkPods}`);
    const line = shell(maxPods).trim();
    t.equal(line, "maxPods: 6", "which are added to the addresses");
    shell(
      [
        `kubectl drain ${nodeName} --ignore-daemonsets`,
        `sed -i 's/^maxPods: .*/${line}/' ${kubeletConfiguration}`,
        "systemctl restart kubelet",
      ].join(" &&\n"),
    );
    await allocatable("pods", "6");
    waitFor("condition=Ready", `node/${nodeName}`);
    shell(`kubectl uncordon ${nodeName}`);
    await sixthWaits(t, podNamed, "Too many pods.");

    t.match(offered(), /n1 +5 +5/, "an ordinary restart of kubelet keeps the resource");
  },
);

/**
 * Expects that five pods run, and that the sixth is not placed until one has ended; then deletes all.
 *
 * @param podOf makes the pods
 * @param reason why the only node cannot take it
 */
async function sixthWaits(t: Test, podOf: (name: string) => IPod, reason: string): Promise<void> {
  runPods(...five.map((name) => podOf(name)));
  create([podOf("sixth")]);
  await until("the event", () => eventsOf("sixth", "FailedScheduling").length > 0);
  const message = eventsOf("sixth", "FailedScheduling")[0] ?? "";
  // The rest of the message is about preemption.
  t.ok(message.startsWith(`0/1 nodes are available: 1 ${reason}`), "the sixth is not placed");
  deletePods("third");
  waitFor("condition=Ready", "pod/sixth");
  t.same(eventsOf("sixth", "FailedCreatePodSandBox"), [], "and none of its sandboxes has failed");
  deletePods(...five.filter((name) => name !== "third"), "sixth");
  kubectl("delete", "events", "--all");
}

function requestingPod(name: string): IPod {
  const pod = podNamed(name);
  const containers = (pod.spec?.containers ?? []).map((container) => ({
    ...container,
    resources: requests,
  }));
  return podNamed(name, { containers });
}

/** A DaemonSet whose pod takes no address, and requests none. */
function proxy(): IDaemonSet {
  const labels = { app: "proxy" };
  const { spec = { containers: [] } } = podNamed("proxy", { hostNetwork: true });
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "proxy" },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** Waits until the node offers a number of a resource, or none if `value` is empty. */
async function allocatable(name: string, value: string): Promise<void> {
  const path = `{.status.allocatable.${name.replaceAll(".", "\\.")}}`;
  const read = () => kubectl("get", "node", nodeName, `--output=jsonpath=${path}`);
  await until(`${name}: ${value}`, () => read() === value);
}

function offered(): string {
  const field = resource.replace(".", "\\.");
  const columns = `NAME:.metadata.name,CAPACITY:.status.capacity.${field},ALLOCATABLE:.status.allocatable.${field}`;
  return kubectl("get", "node", nodeName, `--output=custom-columns=${columns}`);
}

/** The features of a file, read like node-feature-discovery. */
function featuresIn(file: string): readonly (readonly [name: string, value: string])[] {
  return file
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [name = "", value = "true"] = line.split("=");
      return [name, value];
    });
}

function pathOfResource(): string {
  return `/status/capacity/${resource.replace("/", "~1")}`;
}

function patchStatus(operation: object): void {
  const patch = `--patch=${JSON.stringify([operation])}`;
  kubectl("patch", "node", nodeName, "--subresource=status", "--type=json", patch);
}
