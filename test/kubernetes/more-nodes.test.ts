// test: cluster, sees the node, makes namespaces, mounts
/** More nodes than podCIDRs, which `plan` foretells. */

import { rmSync } from "node:fs";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, eventsOf, kubectl, waitFor } from "./kubectl.ts";
import { nodeNamed, podCidrsOfNodes } from "./nodes.ts";
import { printedBy, shell } from "./operator.ts";
import { podAddresses, podNamed } from "./pods.ts";
import { generatedConfiguration, nodeName } from "./worker.ts";

const settings = { clusterCidr: "10.254.0.0/22", nodeCidrMaskSize: 24 };

/** The settings that plan proposes instead. */
const larger = { ...settings, clusterCidr: "10.254.0.0/21" };

clusterScenario(
  { title: "More nodes than podCIDRs, as plan says beforehand", cluster: settings },
  async (t, cluster) => {
    const { worker, controlPlane } = cluster;
    const command =
      "host-local plan --cluster-cidr 10.254.0.0/22 --node-cidr-mask-size 24 --nodes 5";
    const plan = printedBy(command);
    t.match(
      plan,
      "5 nodes do not fit: there are 4 podCIDRs of /24, so 1 node would get no podCIDR",
      "plan says what will happen",
    );
    t.match(plan, "Node 5 would get no podCIDR, and its pods no address.");
    t.match(plan, `a cluster CIDR of /21 with a node mask of /24`, "and what to do instead");

    worker.kubelet.stop();
    kubectl("delete", "node", nodeName);
    // The node comes back as one that has never had a podCIDR.
    rmSync(generatedConfiguration);
    create(["n2", "n3", "n4", "n5"].map((name) => nodeNamed(name)));
    await until("four podCIDRs", () =>
      Object.values(podCidrsOfNodes()).every((podCidr) => podCidr !== undefined),
    );
    worker.kubelet.start();
    waitFor("create", `node/${nodeName}`);
    await until("the event", () => eventsOf(nodeName, "CIDRNotAvailable").length > 0);
    const [event] = eventsOf(nodeName, "CIDRNotAvailable");
    t.equal(event, "Node n1 status is now: CIDRNotAvailable", "the fifth node gets none");
    const podCidrs = Object.values(podCidrsOfNodes());
    t.equal(podCidrs.filter((podCidr) => podCidr !== undefined).length, 4, "four nodes have one");

    create([podNamed("web")]);
    await until("the event", () => eventsOf("web", "FailedScheduling").length > 0);
    await until("the state of the node", () =>
      readinessOf(nodeName).includes("runtime network not ready"),
    );
    t.match(readinessOf(nodeName), "cni plugin not initialized", "there is no configuration");
    t.equal(podAddresses().web, undefined, "and a pod gets no address");
    const audited = printedBy(
      "kubectl get nodes -o json | host-local audit --cluster-cidr 10.254.0.0/22",
    );
    t.match(audited, /n1 +- +none is left/, "audit says so");
    const [advice = ""] = /host-local plan .*/.exec(audited) ?? [];
    t.match(shell(advice), /10\.254\.0\.0\/22 +\/25 +8 +125/, "the plan that it names fits");

    controlPlane.restartController(larger);
    waitFor("condition=Ready", `node/${nodeName}`, "pod/web");
    t.equal(worker.podCidr(), "10.254.4.0/24", "the fifth node gets the fifth podCIDR");
    t.equal(podAddresses().web, "10.254.4.2", "and the pod an address of it");
    t.equal(
      shell(
        "kubectl get nodes -o json | host-local audit --cluster-cidr 10.254.0.0/21 >/dev/null; echo $?",
      ),
      "0\n",
      "audit finds nothing",
    );
  },
);

/** Why a node is not ready, in the words of kubelet. */
function readinessOf(node: string): string {
  const path = '{.status.conditions[?(@.type=="Ready")].message}';
  return kubectl("get", "node", node, `--output=jsonpath=${path}`);
}
