// test: cluster
/** containerd's directory is lost. */

import { namespaceWith } from "../e2e/node-namespaces.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, eventsOf, waitFor } from "./kubectl.ts";
import { pass20Minutes, printedCommand, shell, terminal } from "./operator.ts";
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
import { containerdOf } from "./programs.ts";
import { podNetwork } from "./worker.ts";

const page = "docs/leaked-addresses.md";
const release = printedCommand(page, "host-local gc mynet --live-command 'crictl pods -q' --yes");
const listDead = release.replace(" --yes", "");
const withoutList = printedCommand(page, "host-local gc mynet --yes");
const releaseNow = `${release} --now`;

/** Whether libcni's cache names the namespace of each pod. */
const recordsNamespaces = containerdOf() === "2";

clusterScenario(
  {
    title: "The directory of containerd is lost, and addresses leak",
    cluster: { clusterCidr: "10.247.0.0/24", nodeCidrMaskSize: 28 },
  },
  async (t, cluster, show) => {
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
    show(
      "Six pods run on a node with a /28. kubelet and containerd are stopped, `/var/lib/containerd` is deleted, and both are started again. containerd has forgotten the sandboxes, so kubelet makes new ones, with further addresses; but the old containers run on:",
      shell("host-local list"),
    );
    const reserved = cluster.reservations();
    const refusal = terminal(releaseNow);
    t.same(cluster.reservations(), reserved, "what lives keeps its address");
    const { a: target = "" } = podAddresses();
    for (const address of lost) {
      t.ok(namespaceWith(address).reaches(target), `${address}, unknown to containerd, lives on`);
    }
    show(
      "The command of [leaked-addresses.md](../leaked-addresses.md#who-decides-that-a-container-is-dead) releases nothing, although `crictl pods` does not list those containers (the test has set the times of the reservations back by twenty minutes):",
      refusal,
    );

    await failPower(cluster);
    await cluster.restartNode();
    runPods("g");
    create([podNamed("h")]);
    await until("the event", () => eventsOf("h", "FailedCreatePodSandBox").length > 0);
    pass20Minutes();
    const survey = terminal("host-local list", "host-local capacity", "host-local check");
    if (!recordsNamespaces) {
      const doubt = /whether \d+ of \d+ reservations leaked cannot be seen/;
      t.match(survey, doubt, "check does not see the processes of the host, and says so");
    }
    show(
      "The power fails, which ends the forgotten containers. The boot id stays the same, as in a node of kind, which is a container, so no reservation is from before a boot. containerd releases the addresses of the sandboxes that it knows; those of the forgotten ones have leaked. A seventh pod gets the last address, and an eighth waits. Twenty minutes later (the test sets the times back again):",
      survey,
    );

    const [addresses, containers] = [podAddresses(), readyContainers()];
    if (recordsNamespaces) {
      terminal(withoutList);
      t.equal(cluster.reserved().length, 13, "a first run releases nothing");
      show(
        "libcni in containerd 2.1 records network namespaces, so `gc` needs no list. The second run is to be ten minutes after the first; `--now` does not wait for that:",
        terminal(`host-local gc ${podNetwork}`, `${withoutList} --now`),
      );
    } else {
      const undecided = terminal(`host-local gc ${podNetwork}`, withoutList);
      t.match(undecided, listDead, "gc prints which list to use");
      show(
        "Without a list `gc` cannot decide: libcni in containerd 1.6 does not record network namespaces, and in a node that is a container the processes of the host are not seen. It prints which list to use:",
        undecided,
      );
      terminal(release);
      t.equal(cluster.reserved().length, 13, "a first run releases nothing");
      show(
        "With the list it can. The second run is to be ten minutes after the first; `--now` does not wait for that:",
        terminal(listDead, releaseNow),
      );
    }
    waitFor("condition=Ready", "pod/h");
    const { h = "", ...others } = podAddresses();
    const { h: _, ...kept } = readyContainers();
    t.same([others, kept], [addresses, containers], "the pods keep addresses and containers");
    t.same(cluster.reserved(), ownAddresses(), "only what leaked was released");
    for (const name of Object.keys(others)) ping(name, h);
    show(
      "The eighth pod gets one of the addresses. The others have kept theirs, and each of them reaches it:",
      terminal("host-local capacity", "host-local check"),
    );

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);
