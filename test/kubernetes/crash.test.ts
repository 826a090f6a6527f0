// test: cluster
/** Programs of the node are killed, and its power fails. */

import { randomUUID } from "node:crypto";
import { namespaceWith } from "../e2e/node-namespaces.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { eventsOf } from "./kubectl.ts";
import { shell } from "./operator.ts";
import {
  deletePods,
  ownAddresses,
  ping,
  podAddresses,
  podTable,
  readyContainers,
  runPods,
} from "./pods.ts";
import { failPower, setBootId } from "./power.ts";
import { nodeName } from "./worker.ts";

clusterScenario(
  {
    title: "kubelet and containerd are killed, and the power fails",
    cluster: { clusterCidr: "10.246.0.0/24", nodeCidrMaskSize: 29 },
  },
  async (t, cluster, show) => {
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
    show(
      "Four pods run on a node with a /29 when kubelet and containerd are killed with SIGKILL. Without them the pods still reach each other. Once both run again, the pods have the same sandboxes and addresses, and a fifth pod gets the last address of the range:",
      podTable(),
    );

    await failPower(cluster);
    show(
      "Then the power of the node fails: all its processes are killed at once, and network namespaces, cgroups, `/run/netns` and `/run/containerd` are gone; the disk stays as it is. (The control plane is another machine. Not simulated are the start of the kernel, so the boot id stays the same, and the loss of what was not yet on the disk.) `host-local list`, before anything is started again:",
      shell("host-local list"),
    );
    await cluster.restartNode();
    t.same(cluster.reserved(), ownAddresses(), "nothing stays of the old pods");
    t.equal(new Set(ownAddresses()).size, 5, "each pod has an address of its own");
    ping("a", podAddresses().e ?? "");
    show(
      "kubelet has containerd stop each old sandbox, whose DEL frees the address, before it makes a new one. So the pods come back although the range was full, and only their addresses are reserved:",
      `${podTable()}\n${shell("host-local list")}`,
    );

    const lost = cluster.reserved();
    await failPower(cluster);
    worker.loseContainerdState();
    setBootId(randomUUID());
    show(
      "The power fails once more, and this time containerd's directory, `/var/lib/containerd`, is lost as well, so that nobody sends a DEL. The test gives the node another boot id, as the kernel does when it starts. `host-local list` and `host-local capacity`, before anything is started again:",
      shell("host-local list; host-local capacity"),
    );
    await cluster.restartNode();
    t.ok(eventsOf(nodeName, "Rebooted").length > 0, "kubelet has seen another boot");
    t.same(cluster.reserved(), lost, "the range is full again");
    t.same(cluster.reserved(), ownAddresses(), "with what the new pods have");
    show(
      "kubelet reports the reboot, and finds no sandboxes. No address of the range is free, but ADD takes those from before the boot, and the pods come back without a command:",
      [eventsOf(nodeName, "Rebooted")[0], podTable(), shell("host-local list")].join("\n\n"),
    );

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);

function lines(text: string): readonly string[] {
  return text.split("\n").sort();
}
