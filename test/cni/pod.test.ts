import { test } from "tap";
import { formatPod, podIn } from "../../src/cni/pod.ts";

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
