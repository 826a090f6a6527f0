// test: cluster, sees the node, makes namespaces, mounts
/** /var/lib/cni is deleted under running pods. */

import { addressesInTwo } from "../e2e/node-namespaces.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, refusalOf, waitFor } from "./kubectl.ts";
import { printedBy, shell } from "./operator.ts";
import { deletePods, ownAddresses, ping, podAddresses, podNamed, runPods } from "./pods.ts";

const early = Array.from({ length: 6 }, (_, at) => `early-${at}`);
const late = Array.from({ length: 7 }, (_, at) => `late-${at}`);

clusterScenario(
  {
    title: "/var/lib/cni is deleted under running pods",
    cluster: { clusterCidr: "10.243.0.0/24", nodeCidrMaskSize: 28 },
  },
  async (t, cluster) => {
    runPods(...early);
    const before = podAddresses();
    shell("rm -rf /var/lib/cni");

    runPods(...late);
    t.same(addressesInTwo(), [], "no address is in two network namespaces");
    t.equal(new Set(ownAddresses()).size, 13, "each of 13 pods has an address of its own");
    t.equal(cluster.reserved().length, late.length, "those of the later ones are reserved");
    create([podNamed("last")]);
    await until("the refusal", () => refusalOf("last") !== undefined);
    t.pass("the range counts as full");
    const found = printedBy("host-local check");
    t.match(found, /live-without-reservation/, "check tells of it");

    deletePods("early-0");
    waitFor("condition=Ready", "pod/last");
    t.equal(podAddresses().last, before["early-0"], "the end of a pod frees what was not reserved");
    for (const name of ["early-1", "late-0"]) ping("last", podAddresses()[name] ?? "");
    t.same(addressesInTwo(), [], "no address is in two network namespaces");

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);
