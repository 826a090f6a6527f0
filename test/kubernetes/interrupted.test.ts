// test: cluster, sees the node, makes namespaces, mounts
/** containerd is killed in the middle of ADDs. */

import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, waitFor } from "./kubectl.ts";
import { pass20Minutes, printedCommand, terminal } from "./operator.ts";
import { deletePods, ping, podAddresses, podNamed } from "./pods.ts";

const page = "docs/leaked-addresses.md";
const release = printedCommand(page, "host-local gc mynet --live-command 'crictl pods -q' --yes");

clusterScenario(
  {
    title: "containerd is killed while pods are created",
    cluster: { clusterCidr: "10.249.0.0/24", nodeCidrMaskSize: 27 },
  },
  async (t, cluster) => {
    const { worker } = cluster;
    const reserved = () => cluster.reserved();
    const names = Array.from({ length: 12 }, (_, index) => `pod-${index}`);
    create(names.map((name) => podNamed(name)));
    await until("the first reservations", () => reserved().length >= 3);
    worker.containerd.kill();
    worker.kubelet.kill();
    await cluster.startNode();
    waitFor("condition=Ready", ...names.map((name) => `pod/${name}`));
    const byName = podAddresses();
    const addresses = Object.values(byName).sort();
    t.equal(new Set(addresses).size, names.length, "each pod has an address of its own");
    t.same(
      addresses.filter((address) => !reserved().includes(address)),
      [],
      "which is reserved",
    );
    for (const name of names.slice(1)) ping("pod-0", byName[name] ?? "");
    pass20Minutes();
    terminal(`${release} --now`);
    t.same(reserved(), addresses, "what the pods have is reserved, and nothing else");

    deletePods();
    t.same(reserved(), [], "nothing stays reserved");
  },
);
