// test: cluster, sees the node, makes namespaces, mounts
/** The findings of `audit` among the nodes of a cluster, and the commands that it prints. */

import type { IDeployment } from "kubernetes-models/apps/v1";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, kubectl } from "./kubectl.ts";
import { nodeNamed, podCidrsOfNodes } from "./nodes.ts";
import { printedBy, shell } from "./operator.ts";
import { ownAddresses, podAddresses, podNamed } from "./pods.ts";

const clusterCidr = "10.252.0.0/16";

const command = `kubectl get nodes -o json | host-local audit --cluster-cidr ${clusterCidr} --node-cidr-mask-size 24`;

clusterScenario(
  {
    title: "What audit finds, and the commands that it prints",
    cluster: { clusterCidr, nodeCidrMaskSize: 23 },
  },
  async (t, cluster) => {
    const { controlPlane } = cluster;
    create([web()]);
    kubectl("rollout", "status", "deployment/web", "--timeout=180s");
    t.same(ownAddresses(), ["10.252.0.2", "10.252.0.3"], "two pods run");
    controlPlane.restartController({ clusterCidr, nodeCidrMaskSize: 24, givesPodCidrs: false });
    create([
      nodeNamed("n2", "10.252.2.0/24"),
      nodeNamed("n3", "10.252.2.0/24"),
      nodeNamed("n4", "10.252.1.0/24"),
      nodeNamed("n5"),
    ]);

    const found = audit();
    for (const line of [
      /^n2 +10\.252\.2\.0\/24 .*n3/m,
      /^n3 +10\.252\.2\.0\/24 .*n2/m,
      /^n1 +10\.252\.0\.0\/23 .*10\.252\.1\.0\/24 of n4/m,
      /^n4 +10\.252\.1\.0\/24 .*10\.252\.0\.0\/23 of n1/m,
      /^n5 +- /m,
    ]) {
      t.match(found, line, "audit finds it");
    }

    const pasted: string[] = [];
    for (let [next] = stepsIn(found); next !== undefined; [next] = stepsIn(audit())) {
      if (pasted.length === 3) throw new Error(`There are more than three: ${next}`);
      shell(next);
      pasted.push(next);
    }
    const renumbered = podCidrsOfNodes();
    t.same(
      renumbered,
      {
        n1: "10.252.4.0/24",
        n2: "10.252.2.0/24",
        n3: "10.252.0.0/24",
        n4: "10.252.1.0/24",
        n5: "10.252.3.0/24",
      },
      "three nodes get free podCIDRs, and the others keep theirs",
    );
    t.match(audit(), "No problems found.");
    kubectl("rollout", "status", "deployment/web", "--timeout=180s");
    const addresses = podAddresses();
    t.same(Object.values(addresses).sort(), ["10.252.4.2", "10.252.4.3"], "the pods run again");
    t.same(
      cluster.reserved(),
      Object.values(addresses).sort(),
      "and only their addresses are reserved",
    );

    t.same(
      pasted.map(pasteAgain),
      ["n5 10.252.3.0/24\n", "n1 10.252.4.0/24\n", "n3 10.252.0.0/24\n"],
      "the same commands stop at once, and name the node that has the podCIDR",
    );
    t.same(podCidrsOfNodes(), renumbered, "and change no podCIDR");
    t.same(podAddresses(), addresses, "and no pod");

    controlPlane.restartController({ clusterCidr, nodeCidrMaskSize: 24 });
    create([nodeNamed("n6")]);
    await until("a podCIDR", () => podCidrsOfNodes().n6 !== undefined);
    t.match(audit(), "No problems found.", "the controller gives a new node one that is free");

    create([nodeNamed("n7", "10.251.7.0/24")]);
    controlPlane.restartController({ clusterCidr, nodeCidrMaskSize: 24 });
    await until("its end", () => !controlPlane.controllerManager.runs);
    const { log } = controlPlane.controllerManager;
    // The last line counts: the controller before may have tried, too, and has gone on.
    const fault = log.match(/^[EF].*failed to mark cidr.*/gm)?.at(-1) ?? "";
    t.match(fault, "failed to mark cidr[10.251.7.0/24] at idx [0] as occupied for node");
    const outside = audit();
    t.match(outside, /^n7 +10\.251\.7\.0\/24 +not in 10\.252\.0\.0\/16/m, "audit finds it");
    const [steps = ""] = stepsIn(outside);
    shell(steps);
    t.equal(pasteAgain(steps), "n7 10.252.6.0/24\n", "a second time they stop at once");
    controlPlane.controllerManager.start();
    create([nodeNamed("n8")]);
    await until("a podCIDR", () => podCidrsOfNodes().n8 !== undefined);
    t.match(audit(), "No problems found.");
  },
);

function audit(): string {
  return printedBy(command);
}

/** The commands for each node in the text of audit, with their comments. */
function stepsIn(text: string): readonly string[] {
  return [...text.matchAll(/^# n\d+\n(?:.+\n)+/gm)].map(([steps]) => steps);
}

/** The output of commands that are expected to fail. */
function pasteAgain(commands: string): string {
  return shell(`{\n${commands}} 2>&1 && echo "not refused" || true`);
}

/** Two pods that come back after a drain. */
function web(): IDeployment {
  const labels = { app: "web" };
  const { spec = { containers: [] } } = podNamed("web");
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  };
}
