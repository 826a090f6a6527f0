// test: cluster, sees the node, makes namespaces, mounts
/** containerd 2.1 asks for STATUS, and kubelet tells the API. */

import { readFileSync, writeFileSync } from "node:fs";
import { socket } from "../clients/containerd.ts";
import { RuntimeService } from "../clients/cri.ts";
import { readExample } from "../e2e/example.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, kubectl, waitFor } from "./kubectl.ts";
import { deletePods, listPods, podNamed, runPods } from "./pods.ts";
import { generatedConfiguration, nodeName } from "./worker.ts";

const template = readExample("containerd.conflist.template").replace(
  '"cniVersion": "1.0.0"',
  '"cniVersion": "1.1.0"',
);

clusterScenario(
  {
    title:
      "STATUS makes a node NotReady whose configuration is wrong, but not one whose range is full",
    cluster: {
      clusterCidr: "10.250.0.0/24",
      nodeCidrMaskSize: 29,
      template,
    },
  },
  async (t, cluster) => {
    const runtime = new RuntimeService(socket);
    runPods("a", "b", "c", "d", "e");
    t.equal(cluster.reserved().length, 5, "the range is full");
    t.same(await runtime.networkReady(), { ready: true, message: "" }, "and STATUS has no error");
    t.equal(readiness().status, "True");

    const right = readFileSync(generatedConfiguration, "utf8");
    const wrong = right.replace('"ranges"', '"exclude": ["10.250.0.0/29"], "ranges"');
    t.not(wrong, right);
    writeFileSync(generatedConfiguration, wrong);
    await until("the node to be NotReady", () => readiness().status === "False");
    const { message } = readiness();
    t.match(message, /NetworkReady=false .*ipam.exclude leaves no address/);
    create([podNamed("f")]);
    await until("the scheduler", () => scheduling("f").includes("untolerated taint"));
    t.equal(listPods().filter(({ container }) => container).length, 5, "the pods run on");

    writeFileSync(generatedConfiguration, right);
    waitFor("condition=Ready", `node/${nodeName}`);
    deletePods("a");
    waitFor("condition=Ready", "pod/f");

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);

/** The condition Ready of the node. */
function readiness(): { readonly status: string; readonly message: string } {
  const path = '{.status.conditions[?(@.type=="Ready")]}';
  return JSON.parse(kubectl("get", "node", nodeName, `--output=jsonpath=${path}`));
}

/** Why a pod is not placed. */
function scheduling(pod: string): string {
  return kubectl("get", "pod", pod, "--output=jsonpath={.status.conditions[*].message}");
}
