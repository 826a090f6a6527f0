// test: cluster, sees the node, makes namespaces, mounts
/** The way of a podCIDR from the controller to the addresses of pods. */

import { readFileSync } from "node:fs";
import { renderContainerdTemplate } from "../e2e/containerd-template.ts";
import { readExample } from "../e2e/example.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { shell } from "./operator.ts";
import { deletePods, ping, podAddresses, runPods } from "./pods.ts";
import { generatedConfiguration } from "./worker.ts";

clusterScenario(
  {
    title: "From the podCIDR to the addresses of pods",
    cluster: { clusterCidr: "10.244.0.0/16", nodeCidrMaskSize: 24 },
  },
  async (t, cluster) => {
    const podCidr = cluster.worker.podCidr();
    t.equal(podCidr, "10.244.0.0/24", "the controller gives the node its podCIDR");
    const configuration = readFileSync(generatedConfiguration, "utf8");
    t.equal(
      configuration,
      renderContainerdTemplate(readExample("containerd.conflist.template"), [podCidr]),
      "containerd makes a configuration of the example template",
    );

    const names = ["a", "b", "c"];
    runPods(...names);
    const addresses = podAddresses();
    t.same(Object.keys(addresses), names, "the API knows an address of each pod");
    t.same(
      Object.values(addresses).sort(),
      ["10.244.0.2", "10.244.0.3", "10.244.0.4"],
      "the pods get the first addresses after the gateway",
    );
    t.same(cluster.reserved(), Object.values(addresses).sort(), "which are reserved");

    for (const from of names) {
      for (const to of names) {
        t.doesNotThrow(() => ping(from, addresses[to] ?? ""), `${from} reaches ${to}`);
      }
    }
    t.equal(shell("host-local check >/dev/null; echo $?"), "0\n", "check finds nothing wrong");

    deletePods();
    t.same(cluster.reservations(), {}, "the end of the pods frees their addresses");
  },
);
