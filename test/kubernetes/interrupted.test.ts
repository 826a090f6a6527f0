// test: cluster
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
  async (t, cluster, show) => {
    const { worker } = cluster;
    const reserved = () => cluster.reserved();
    const names = Array.from({ length: 12 }, (_, index) => `pod-${index}`);
    create(names.map((name) => podNamed(name)));
    await until("the first reservations", () => reserved().length >= 3);
    worker.containerd.kill();
    worker.kubelet.kill();
    const { length: atDeath } = reserved();
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
    const { length: more } = reserved().filter((address) => !addresses.includes(address));
    pass20Minutes();
    const outcome = terminal("host-local check", `${release} --now`);
    show(
      `containerd and kubelet are killed with SIGKILL while they create twelve pods: ${atDeath} addresses are reserved then. Once both run again, all pods run, and the first one reaches all others. ${more === 0 ? "No address has leaked: kubelet has had the sandboxes stopped that were not finished." : `${more} addresses have leaked.`} Twenty minutes later (the test sets the times of the reservations back) \`check\` and \`gc\` say:`,
      outcome,
    );
    t.same(reserved(), addresses, "what the pods have is reserved, and nothing else");

    deletePods();
    t.same(reserved(), [], "nothing stays reserved");
  },
);
