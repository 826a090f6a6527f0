import { test } from "tap";
import { parseContainerId } from "../../src/cni/attachment.ts";
import { formatPod, isPodSandbox, podIn } from "../../src/cni/pod.ts";

for (const [text, pod] of [
  ["IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web", "default/web"],
  ["K8S_POD_NAME=a;K8S_POD_NAME=b", "b"],
  ["K8S_POD_NAME=web", "web"],
  ["K8S_POD_NAMESPACE=default", ""],
  ["XK8S_POD_NAME=web;k8s_pod_name=web", ""],
  ["K8S_POD_NAME=a=b;;=", "a=b"],
  ["garbage", ""],
  ["", ""],
] as const) {
  test(`the pod of ${JSON.stringify(text)} is ${JSON.stringify(pod)}`, async (t) => {
    t.equal(formatPod(podIn(text)), pod);
  });
}

test("a container is the sandbox of a pod if the last argument of that name says so", async (t) => {
  const c1 = { containerId: parseContainerId("c1") };
  for (const text of [
    "K8S_POD_INFRA_CONTAINER_ID=c1",
    "IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=c1;K8S_POD_UID=5",
    "K8S_POD_INFRA_CONTAINER_ID=c2;K8S_POD_INFRA_CONTAINER_ID=c1",
  ]) {
    t.equal(isPodSandbox(c1, text), true, text);
  }
  for (const text of [
    "",
    "K8S_POD_INFRA_CONTAINER_ID=",
    "K8S_POD_INFRA_CONTAINER_ID=c11",
    "XK8S_POD_INFRA_CONTAINER_ID=c1",
    "K8S_POD_INFRA_CONTAINER_ID=c1;K8S_POD_INFRA_CONTAINER_ID=c2",
    "K8S_POD_NAME=c1",
  ]) {
    t.equal(isPodSandbox(c1, text), false, text);
  }
});
