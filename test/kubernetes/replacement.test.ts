// test: cluster, sees the node, makes namespaces, mounts
/** The Go plugin is replaced under living pods, and put back. */

import { executable } from "../harness/executable.ts";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { shell } from "./operator.ts";
import { deletePods, ownAddresses, ping, podAddresses, readyContainers, runPods } from "./pods.ts";

clusterScenario(
  {
    title: "The Go plugin is replaced under living pods, and put back",
    cluster: { clusterCidr: "10.246.0.0/16", nodeCidrMaskSize: 24 },
    skip: skipWithoutGoPlugin,
  },
  async (t, cluster) => {
    const { worker } = cluster;
    const sameReserved = (when: string) => t.same(cluster.reserved(), ownAddresses(), when);
    const before = goPlugin?.path ?? "";

    worker.install(before);
    runPods("go-1", "go-2", "go-3");
    const { "go-3": container } = readyContainers();
    const first = ["10.246.0.2", "10.246.0.3", "10.246.0.4"];
    t.same(ownAddresses(), first, "the Go plugin gives the first addresses");

    shell("host-local install /opt/cni/bin --yes");
    t.ok(worker.isInstalled(executable), "this one is there");
    deletePods("go-1");
    sameReserved("the end of an old pod frees its address");
    runPods("ours-1", "ours-2");
    t.same(
      [podAddresses()["ours-1"], podAddresses()["ours-2"]].sort(),
      ["10.246.0.5", "10.246.0.6"],
      "new pods get the next addresses of the same cursor, not the free one",
    );
    sameReserved("the node agrees with the API");
    t.doesNotThrow(() => ping("go-2", podAddresses()["ours-1"] ?? ""), "old reaches new");
    t.doesNotThrow(() => ping("ours-1", podAddresses()["go-3"] ?? ""), "new reaches old");
    t.equal(shell("host-local check >/dev/null; echo $?"), "0\n", "check finds nothing wrong");

    shell("host-local install /opt/cni/bin --uninstall --yes");
    t.ok(worker.isInstalled(before), "the Go plugin is there again");
    deletePods("ours-1", "go-2");
    runPods("go-4");
    t.equal(podAddresses()["go-4"], "10.246.0.7", "it continues with the next address");
    sameReserved("and has freed an address of each");
    t.doesNotThrow(() => ping("go-4", podAddresses()["ours-2"] ?? ""), "new reaches old");
    t.equal(readyContainers()["go-3"], container, "a pod has run from the beginning");

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);
