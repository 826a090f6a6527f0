// test: cluster, sees the node, makes namespaces, mounts
/** A Job that wants more addresses than there are, while programs of the node are killed. */

import { clusterScenario } from "./cluster-scenario.ts";
import { Job } from "./jobs.ts";
import { shell } from "./operator.ts";

/** The number of addresses, from 10.254.0.2 to 10.254.0.126. */
const ADDRESSES = 125;

clusterScenario(
  {
    title: "A Job of 200 pods on a /25 while kubelet and containerd are killed",
    cluster: { clusterCidr: "10.254.0.0/24", nodeCidrMaskSize: 25, maxPods: 250 },
  },
  async (t, cluster) => {
    const { worker } = cluster;
    let most = 0;
    const look = () => {
      most = Math.max(most, cluster.reserved().length);
    };
    const job = new Job({ name: "batch", pods: 200, atOneTime: 150, seconds: 60 });
    await job.succeeded(20, look);
    worker.containerd.kill();
    await worker.startContainerd();
    await job.succeeded(70, look);
    worker.kubelet.kill();
    await worker.startKubelet();
    await job.succeeded(130, look);
    worker.kubelet.kill();
    worker.containerd.kill();
    await cluster.startNode();
    await job.succeeded();

    // A pod may fail if containerd is killed while it makes the pod's container; the Job then makes another pod.
    t.equal(job.progress.succeeded, 200, "200 pods succeed");
    t.equal(most, ADDRESSES, "the range was full");
    t.same([...job.twice], [], "no address was in two network namespaces");
    job.delete();
    shell("host-local gc --yes --now --grace 0s");
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);
