// test: cluster, sees the node, makes namespaces, mounts
/** containerd's directory is lost. */

import { namespaceWith } from "../e2e/node-namespaces.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, eventsOf, waitFor } from "./kubectl.ts";
import { pass20Minutes, printedCommand, terminal } from "./operator.ts";
import {
  deletePods,
  ownAddresses,
  ping,
  podAddresses,
  podNamed,
  readyContainers,
  runPods,
} from "./pods.ts";
import { failPower } from "./power.ts";
import { podNetwork } from "./worker.ts";

const page = "docs/leaked-addresses.md";
const releaseByList = printedCommand(
  page,
  "host-local gc mynet --live-command 'crictl pods -q' --yes",
);
const release = printedCommand(page, "host-local gc mynet --yes");

clusterScenario(
  {
    title: "The directory of containerd is lost, and addresses leak",
    cluster: { clusterCidr: "10.247.0.0/24", nodeCidrMaskSize: 28 },
    asContainer: true,
  },
  async (t, cluster) => {
    const { worker } = cluster;
    const names = ["a", "b", "c", "d", "e", "f"];
    runPods(...names);
    const lost = ownAddresses();

    worker.kubelet.stop();
    worker.containerd.stop();
    worker.loseContainerdState();
    await cluster.restartNode();
    pass20Minutes();
    t.same(
      cluster.reserved(),
      [...lost, ...Object.values(podAddresses())].sort(),
      "the pods have new addresses beside the old ones",
    );
    const reserved = cluster.reservations();
    terminal(`${releaseByList} --now`);
    t.same(cluster.reservations(), reserved, "what lives keeps its address");
    const { a: target = "" } = podAddresses();
    for (const address of lost) {
      t.ok(namespaceWith(address).reaches(target), `${address}, unknown to containerd, lives on`);
    }

    await failPower(cluster);
    await cluster.restartNode();
    runPods("g");
    create([podNamed("h")]);
    await until("the event", () => eventsOf("h", "FailedCreatePodSandBox").length > 0);
    pass20Minutes();
    t.match(terminal("host-local check"), /leaked-reservation/, "check sees what has leaked");

    const [addresses, containers] = [podAddresses(), readyContainers()];
    terminal(release);
    t.equal(cluster.reserved().length, 13, "a first run releases nothing");
    terminal(`host-local gc ${podNetwork}`, `${release} --now`);
    waitFor("condition=Ready", "pod/h");
    const { h = "", ...others } = podAddresses();
    const { h: _, ...kept } = readyContainers();
    t.same([others, kept], [addresses, containers], "the pods keep addresses and containers");
    t.same(cluster.reserved(), ownAddresses(), "only what leaked was released");
    for (const name of Object.keys(others)) ping(name, h);

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);
