// test: cluster
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
import { isGiven } from "./programs.ts";
import { kubeletConfiguration, nodeName } from "./worker.ts";

const page = "docs/scheduling.md";

const resource = "example.com/pod-ips";

/** Where node-feature-discovery reads features. */
const features = "/etc/kubernetes/node-feature-discovery/features.d";

/** As docs/scheduling.md says it. */
const requests = { requests: { [resource]: "1" }, limits: { [resource]: "1" } };

/** The five that a /29 has addresses for. */
const five = ["first", "second", "third", "fourth", "fifth"] as const;

clusterScenario(
  {
    title: "The scheduler counts addresses",
    cluster: { clusterCidr: "10.250.0.0/24", nodeCidrMaskSize: 29 },
  },
  async (t, _cluster, show) => {
    create([proxy()]);
    kubectl("rollout", "status", "daemonset/proxy", "--timeout=180s");
    show("The node has a podCIDR of /29, and runs one pod with `hostNetwork`, of a DaemonSet.");

    const patch = printedCommand(page, "kubectl patch node");
    show("The number of addresses becomes a resource by the patch of `docs/scheduling.md`:", patch);
    shell(patch);
    await allocatable(resource, "5");
    show("kubelet copies it to `allocatable`:", offered());
    show(
      `Five pods run that request \`${resource}: 1\`. The sixth stays Pending, and has no sandbox that could fail. Its event:`,
      await sixthWaits(t, requestingPod, `Insufficient ${resource}.`),
    );
    show("A pod ends, and the sixth runs.");

    patchStatus({ op: "remove", path: pathOfResource() });
    await allocatable(resource, "");
    const write = printedCommand(page, "--node-feature");
    shell(`mkdir -p ${features} && ${write}`);
    const file = readFileSync(`${features}/host-local.containerd`, "utf8");
    show(`The resource is removed, and \`${write}\` writes a feature file:`, file);
    for (const [name, value] of featuresIn(file)) {
      t.equal(name, resource, "the feature has the name of the resource");
      patchStatus({ op: "add", path: pathOfResource(), value });
    }
    await allocatable(resource, "5");
    show(
      "node-feature-discovery is not in Debian: the patch that it makes of this file and of the rule in `deploy/` is applied with kubectl. Again the sixth pod stays Pending until another ends:",
      await sixthWaits(t, requestingPod, `Insufficient ${resource}.`),
    );

    const hostNetworkPods = shell(printedCommand(page, "kubectl get pods -A")).trim();
    t.equal(hostNetworkPods, "1", "the command of the page counts the pods with hostNetwork");
    const maxPods = printedCommand(page, "--max-pods").replace("pods 3", `pods ${hostNetworkPods}`);
    const line = shell(maxPods).trim();
    t.equal(line, "maxPods: 6", "which are added to the addresses");
    show(
      "Now kubelet limits the number of pods. The one with `hostNetwork` counts, too:",
      `$ ${maxPods}\n${line}`,
    );
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
    show(
      "The node is drained, the line is put into the configuration of kubelet, and kubelet is restarted. Five pods without a request run, and the sixth stays Pending until another ends:",
      await sixthWaits(t, podNamed, "Too many pods."),
    );

    t.match(offered(), /n1 +5 +5/, "an ordinary restart of kubelet keeps the resource");
    show("That restart of kubelet has kept the resource.");
    // A later kubelet does so, too, or not: it depends on what it does first.
    if (isGiven) return;
    shell(
      "systemctl stop kubelet && rm -r /var/lib/kubelet/device-plugins && systemctl start kubelet",
    );
    await allocatable(resource, "0");
    show("One without the checkpoint directory of device plugins sets it to 0:", offered());
    shell(patch);
    await allocatable(resource, "5");
    show("The patch, applied again, restores it.");
  },
);

/**
 * Five pods run, the sixth is not placed, and runs when one has ended; all are deleted.
 *
 * @param podOf makes the pods
 * @param reason why the only node cannot have it
 * @returns the event of the sixth
 */
async function sixthWaits(t: Test, podOf: (name: string) => IPod, reason: string): Promise<string> {
  runPods(...five.map((name) => podOf(name)));
  create([podOf("sixth")]);
  await until("the event", () => eventsOf("sixth", "FailedScheduling").length > 0);
  const message = eventsOf("sixth", "FailedScheduling")[0] ?? "";
  // Later versions add what preemption would change.
  t.ok(message.startsWith(`0/1 nodes are available: 1 ${reason}`), "the sixth is not placed");
  deletePods("third");
  waitFor("condition=Ready", "pod/sixth");
  t.same(eventsOf("sixth", "FailedCreatePodSandBox"), [], "and none of its sandboxes has failed");
  deletePods(...five.filter((name) => name !== "third"), "sixth");
  kubectl("delete", "events", "--all");
  return message;
}

function requestingPod(name: string): IPod {
  const pod = podNamed(name);
  const containers = (pod.spec?.containers ?? []).map((one) => ({ ...one, resources: requests }));
  return podNamed(name, { containers });
}

/** Its pod takes no address, and requests none. */
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

/** Waits until the node offers a number of a resource; none where it is empty. */
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

/** The features of a file as node-feature-discovery reads it. */
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
