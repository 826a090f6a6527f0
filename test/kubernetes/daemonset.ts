/** The DaemonSet of deploy/, with the image of the release. */

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { imageName } from "../../scripts/release/image.ts";
import { namespaceWith } from "../e2e/node-namespaces.ts";
import { inRepository } from "../harness/repository.ts";
import { until } from "../harness/until.ts";
import type { Cluster } from "./cluster.ts";
import { kubectl } from "./kubectl.ts";
import { shell } from "./operator.ts";
import { podAddresses, readyContainers } from "./pods.ts";

const { HOST_LOCAL_RELEASE: release = inRepository("dist/release") } = process.env;

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(inRepository("package.json"), "utf8"),
);

/** The operator's directory for the manifests. */
const directory = "/run";

const inKubeSystem = "--namespace=kube-system";
const agent = "http://127.0.0.1:9464";

/** The command that prints the log of the agent. */
export const logs = `kubectl ${inKubeSystem} logs daemonset/host-local`;

/** The beginning of commands about its rollout. */
export const rollout = `kubectl ${inKubeSystem} rollout`;

/** The changes of a kustomization to the manifests. */
interface Kustomization {
  /** The name of a component in deploy/components. */
  readonly component?: string;
  /** Changed arguments of the agent, by their place. */
  readonly changes?: Readonly<Record<number, string>>;
}

/** Makes the agent run gc every ten seconds, which releases what has been dead for ten. */
export const gcEvery10s: Kustomization = {
  changes: { 6: "--every=10s", 7: "gc --grace 10s --yes --log" },
};

/** Gives the node the image, and the operator the manifests. */
export function prepareDaemonSet({ worker }: Cluster): void {
  worker.addImage(`${release}/${imageName({ version })}`);
  cpSync(inRepository("deploy"), `${directory}/deploy`, { recursive: true });
}

/** Writes the kustomization of docs/kubernetes-install.md, with the image of the release. */
export function writeKustomization({ component, changes = {} }: Kustomization = {}): void {
  const components =
    component === undefined ? [] : ["components:", `  - deploy/components/${component}`];
  const patches = Object.entries(changes).flatMap(([place, value]) => [
    "      - op: replace",
    `        path: /spec/template/spec/containers/0/args/${place}`,
    `        value: ${value}`,
  ]);
  if (patches.length > 0) {
    const target = "  - target: { kind: DaemonSet, name: host-local }";
    patches.unshift("patches:", target, "    patch: |");
  }
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
  writeFileSync(`${directory}/kustomization.yaml`, `${lines.join("\n")}\n`);
}

/** The answer of the agent on the node, whatever the status; empty if nobody listens. */
export async function answer(path: string): Promise<string> {
  try {
    return await (await fetch(`${agent}${path}`)).text();
  } catch {
    return "";
  }
}

/** The readiness of the DaemonSet's container: `true` or `false`. */
export function readiness(): string {
  const path = "--output=jsonpath={.items[*].status.containerStatuses[*].ready}";
  return kubectl(inKubeSystem, "get", "pods", path);
}

/**
 * Removes containerd's records of a pod, and its network namespace, without the plugin calls that belong to it.
 *
 * @param name the pod's name; kubelet starts it again
 */
export async function loseContainers(cluster: Cluster, name: string): Promise<void> {
  const { worker } = cluster;
  const { [name]: address = "" } = podAddresses();
  const [sandbox = ""] = (cluster.reservations()[address] ?? "").split("\r\n");
  const { netns } = namespaceWith(address);
  const container = (readyContainers()[name] ?? "").replace("containerd://", "");
  worker.kubelet.stop();
  for (const id of [container, sandbox]) {
    shell(`ctr --namespace=k8s.io tasks kill --signal SIGKILL ${id}`);
    // The removal works only after the end of its processes.
    await until("the removal", () => shell(`ctr --namespace=k8s.io containers rm ${id}`) === "");
  }
  // containerd has a second record of each sandbox, and would stop this one by it.
  shell(`ctr --namespace=k8s.io sandboxes rm --force ${sandbox} || true`);
  worker.containerd.stop();
  // An address in a namespace is in use.
  shell(`umount --lazy ${netns} && rm ${netns}`);
  await cluster.startNode();
  await until("another address", () => ![address, undefined].includes(podAddresses()[name]));
}
