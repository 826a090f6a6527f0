// test: cluster, sees the node, makes namespaces, mounts
/** The DaemonSet of deploy/ comes and goes while pods of a Job start and end all the time. */

import { executable, isNative } from "../harness/executable.ts";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { gcEvery10s, prepareDaemonSet, rollout, writeKustomization } from "./daemonset.ts";
import { Job } from "./jobs.ts";
import { kubectl } from "./kubectl.ts";
import { shell } from "./operator.ts";

clusterScenario(
  {
    title: "The DaemonSet is rolled out and taken away under a Job of 150 pods",
    cluster: { clusterCidr: "10.240.0.0/16", nodeCidrMaskSize: 24 },
    skip: isNative ? skipWithoutGoPlugin : "The image has the native executable.",
  },
  async (t, cluster) => {
    const { worker } = cluster;
    const former = goPlugin?.path ?? "";
    worker.install(former);
    prepareDaemonSet(cluster);
    const job = new Job({ name: "batch", pods: 150, atOneTime: 20, seconds: 5 });
    await job.succeeded(20);
    writeKustomization(gcEvery10s);
    shell(`kubectl apply --kustomize .\n${rollout} status daemonset/host-local --timeout=180s`);
    t.ok(worker.isInstalled(executable), "the plugin is in place");
    t.ok(job.progress.succeeded < 100, "while the Job runs");
    await job.succeeded(100);
    shell("kubectl delete --kustomize .");
    shell("/opt/cni/bin/host-local install /opt/cni/bin --uninstall --yes");
    t.ok(worker.isInstalled(former), "the Go plugin is there again");
    t.ok(job.progress.succeeded < 150, "while the Job runs");
    await job.succeeded();

    t.same(job.progress, { succeeded: 150, failed: 0 }, "all pods succeed");
    const failed = "--field-selector=reason=FailedCreatePodSandBox";
    t.equal(kubectl("get", "events", failed, "--output=name"), "", "no sandbox failed");
    t.same([...job.twice], [], "no address was in two network namespaces");
    job.delete();
    await until("the last DEL", () => cluster.reserved().length === 0);
    t.pass("nothing stays reserved");
  },
);
