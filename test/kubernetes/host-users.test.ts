// test: cluster, sees the node, makes namespaces, mounts
/** Pods whose root is not the node's: their network namespaces belong to user namespaces of their own. */

import { addressesInTwo } from "../e2e/node-namespaces.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { kubectl } from "./kubectl.ts";
import { isContained } from "./needs.ts";
import { printedBy, shell } from "./operator.ts";
import { deletePods, ownAddresses, ping, podAddresses, podNamed, runPods } from "./pods.ts";
import { failPower } from "./power.ts";
import { lackOfUserNamespaces } from "./programs.ts";

const names = ["a", "b", "c", "d", "e"];

clusterScenario(
  {
    title: "Pods with hostUsers: false",
    cluster: { clusterCidr: "10.242.0.0/24", nodeCidrMaskSize: 29 },
    skip: lackOfUserNamespaces,
  },
  async (t, cluster) => {
    // The node's own proc and sysfs are covered in parts, and a user namespace can only mount what is wholly visible somewhere.
    for (const type of ["proc", "sysfs"])
      shell(`mkdir /run/${type} && mount -t ${type} ${type} /run/${type}`);
    runPods(...names.map((name) => podNamed(name, { hostUsers: false })));
    const users = (pod: string) =>
      kubectl("exec", pod, "--", "busybox", "readlink", "/proc/self/ns/user");
    t.equal(new Set(names.map(users)).size, names.length, "each pod has a user namespace");
    t.same(cluster.reserved(), ownAddresses(), "and an address, of which the range has five");
    ping("a", podAddresses().e ?? "");
    shell("host-local gc --yes --now --grace 0s");
    t.same(cluster.reserved(), ownAddresses(), "gc sees that they live");
    t.match(printedBy("host-local check"), /all 5\s+are of living containers/, "and so does check");

    // In a container no ADD knows that the former pods are dead.
    if (!isContained) {
      await failPower(cluster);
      cluster.worker.loseContainerdState();
      await cluster.restartNode();
      t.same(cluster.reserved(), ownAddresses(), "the next pods get the addresses of those");
      t.equal(new Set(ownAddresses()).size, names.length, "each one of its own");
      t.same(addressesInTwo(), [], "no address is in two network namespaces");
      ping("e", podAddresses().a ?? "");
    }

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);
