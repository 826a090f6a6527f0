// test: cluster, sees the node, makes namespaces, mounts
/** multus (thin) gives pods a second interface on a bridge of the node. */

import { writeFileSync } from "node:fs";
import { NetworkNamespace } from "../e2e/network-namespace.ts";
import { nodeNamespaces } from "../e2e/node-namespaces.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { kubeconfigOf } from "./credentials.ts";
import { create, kubectl, refusalOf, waitFor } from "./kubectl.ts";
import { isContained } from "./needs.ts";
import { printedBy, shell } from "./operator.ts";
import { deletePods, podAddresses, podNamed, runPods } from "./pods.ts";
import { failPower } from "./power.ts";
import { lackOfMultus, multusProgram } from "./programs.ts";
import { generatedConfiguration } from "./worker.ts";

const names = ["a", "b", "c", "d", "e"];

/** The second network, whose range has five addresses. */
const second = {
  cniVersion: "1.0.0",
  name: "second",
  type: "bridge",
  bridge: "second0",
  ipam: { type: "host-local", ranges: [[{ subnet: "192.168.9.0/29" }]] },
};

const group = "k8s.cni.cncf.io";

const kind = "NetworkAttachmentDefinition";

clusterScenario(
  {
    title: "multus gives pods a second address",
    cluster: { clusterCidr: "10.239.0.0/24", nodeCidrMaskSize: 26 },
    skip: lackOfMultus,
  },
  async (t, cluster) => {
    const { host } = cluster;
    const inSecond = () => Object.keys(host.reservations("second"));
    host.install("multus", multusProgram());
    create([definitionOfKind()]);
    waitFor("condition=Established", `crd/network-attachment-definitions.${group}`);
    const spec = { config: JSON.stringify(second) };
    create([{ apiVersion: `${group}/v1`, kind, metadata: { name: "second" }, spec }]);
    const delegating = {
      cniVersion: "1.0.0",
      name: "multus-cni-network",
      type: "multus",
      kubeconfig: kubeconfigOf("admin"),
      clusterNetwork: generatedConfiguration,
    };
    // The file comes before the generated one in the order of names.
    writeFileSync("/etc/cni/net.d/00-multus.conf", JSON.stringify(delegating));
    runPods("probe");
    await until("multus", () => {
      deletePods("probe");
      runPods(withSecond("probe"));
      return inSecond().length === 1;
    });
    deletePods("probe");

    runPods(...names.map(withSecond));
    t.equal(inSecond().length, names.length, "five pods have the five addresses of the second");
    t.same(secondAddresses(), inSecond(), "which are those of their interfaces");
    t.same(cluster.reserved(), Object.values(podAddresses()).sort(), "and one of the first each");
    const [, last = ""] = inSecond();
    t.ok(net1Of(inSecond()[0] ?? "").reaches(last), "they reach each other by the second");
    create([withSecond("waiting")]);
    await until("the refusal", () => refusalOf("waiting") !== undefined);
    t.match(refusalOf("waiting"), /range set: 192\.168\.9\.1-192\.168\.9\.6/, "the sixth waits");
    kubectl("delete", "pod", "a", "--force", "--grace-period=0");
    waitFor("condition=Ready", "pod/waiting");
    t.same(secondAddresses(), inSecond(), "and gets the address of one that is force-deleted");
    shell("host-local gc --yes --now --grace 0s");
    t.same(secondAddresses(), inSecond(), "gc sees that all of them live");
    t.notMatch(printedBy("host-local check"), /leaked-reservation|live-without/, "as check does");

    // In a container no ADD knows that the former pods are dead.
    if (!isContained) {
      await failPower(cluster);
      cluster.worker.loseContainerdState();
      await cluster.restartNode();
      t.equal(secondAddresses().length, names.length, "after a crash all get an address again");
      t.same(secondAddresses(), inSecond(), "in place of those of the dead");
    }

    deletePods();
    await until("the last DEL", () => inSecond().length === 0);
    shell("host-local gc --yes --now --grace 0s");
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);

function withSecond(name: string) {
  const pod = podNamed(name);
  const annotations = { "k8s.v1.cni.cncf.io/networks": "second" };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** The second interfaces of all pods, with their addresses. */
function seconds(): readonly { readonly net1: NetworkNamespace; readonly own: string }[] {
  return nodeNamespaces().flatMap(({ namespace: { netns } }) => {
    const net1 = new NetworkNamespace(netns, "net1");
    return net1.addresses().map((address) => ({ net1, own: address.replace(/\/.*/, "") }));
  });
}

/** The addresses of the second interfaces, in text order. */
function secondAddresses(): readonly string[] {
  return seconds()
    .map(({ own }) => own)
    .sort();
}

function net1Of(address: string): NetworkNamespace {
  const found = seconds().find(({ own }) => own === address);
  if (found === undefined) throw new Error(`No pod has ${address}.`);
  return found.net1;
}

/** The part of the definition that multus reads. */
function definitionOfKind(): object {
  const config = { type: "object", properties: { config: { type: "string" } } };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: config } } };
  const plural = "network-attachment-definitions";
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        plural,
        singular: "network-attachment-definition",
        kind,
        shortNames: ["net-attach-def"],
      },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}
