// test: cluster, sees the node, makes namespaces, mounts
/** Programs of the node are killed, and its power fails. */

import { randomUUID } from "node:crypto";
import { namespaceWith } from "../e2e/node-namespaces.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { eventsOf } from "./kubectl.ts";
import { shell } from "./operator.ts";
import { deletePods, ownAddresses, ping, podAddresses, readyContainers, runPods } from "./pods.ts";
import { failPower, setBootId } from "./power.ts";
import { nodeName } from "./worker.ts";

clusterScenario(
  {
    title: "kubelet and containerd are killed, and the power fails",
    cluster: { clusterCidr: "10.246.0.0/24", nodeCidrMaskSize: 29 },
  },
  async (t, cluster) => {
    const { worker } = cluster;
    runPods("a", "b", "c", "d");
    const before = podAddresses();
    const containers = readyContainers();
    const sandboxes = shell("crictl pods -q");

    worker.kubelet.kill();
    worker.containerd.kill();
    t.ok(
      namespaceWith(before.a ?? "").reaches(before.d ?? ""),
      "without kubelet and containerd the pods reach each other",
    );
    await cluster.startNode();
    t.same(lines(shell("crictl pods -q")), lines(sandboxes), "the sandboxes are the same");
    runPods("e");
    const { e, ...others } = podAddresses();
    t.same(others, before, "the pods keep their addresses");
    const { e: _, ...kept } = readyContainers();
    t.same(kept, containers, "and their containers");
    t.same(cluster.reserved(), ownAddresses(), "nothing else is reserved");
    for (const name of Object.keys(others)) ping(name, e ?? "");

    await failPower(cluster);
    await cluster.restartNode();
    t.same(cluster.reserved(), ownAddresses(), "nothing stays of the old pods");
    t.equal(new Set(ownAddresses()).size, 5, "each pod has an address of its own");
    ping("a", podAddresses().e ?? "");

    const lost = cluster.reserved();
    await failPower(cluster);
    worker.loseContainerdState();
    setBootId(randomUUID());
    await cluster.restartNode();
    t.ok(eventsOf(nodeName, "Rebooted").length > 0, "kubelet has seen another boot");
    t.same(cluster.reserved(), lost, "the range is full again");
    t.same(cluster.reserved(), ownAddresses(), "with what the new pods have");

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);

function lines(text: string): readonly string[] {
  return text.split("\n").sort();
}
