// test: native executable, makes namespaces, mounts
/**
 * With a route whose gateway is in no subnet of the pod, the `bridge` plugin fails after the addresses are reserved, and gives
 * them back.
 */

import { execFileSync } from "node:child_process";
import type { Attachment } from "../harness/runtime-call.ts";
import { configure, findings } from "./bridge-node.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.0.0" };

const ipam = { ranges: [[{ subnet: "10.219.5.0/28" }]] };

/** The sandbox of a pod, with the arguments of containerd. */
function sandbox(name: string): Attachment {
  const pod = new Pod(name);
  const cniArgs = `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name};K8S_POD_INFRA_CONTAINER_ID=${name}`;
  return { containerId: name, netns: pod.netns, cniArgs };
}

scenario("pods that give their addresses back at once are told of", needs, async (t, host) => {
  const wrong = configure({ ...ipam, routes: [{ dst: "10.220.0.0/16", gw: "10.221.0.1" }] });
  const codes = () => findings().map(({ code }) => code);
  const fail = (name: string): void => {
    const pod = sandbox(name);
    t.throws(() => host.runtime.add(wrong, pod));
    host.runtime.del(wrong, pod);
  };
  for (const name of ["a", "b"]) fail(name);
  t.notOk(codes().includes("addresses-given-back"), "it may be chance");
  for (const name of ["c", "d", "e"]) fail(name);
  const [first] = findings();
  t.match(first, {
    code: "addresses-given-back",
    severity: "warning",
    network: "net",
    message: /^the last 5 pods gave the address back within a second, the last one \d+s ago/,
  });

  // The bridge has no port, and the plugin cannot set the address of such a bridge.
  execFileSync("ip", ["link", "delete", "cni0"]);
  const network = configure(ipam);
  const { address = "" } = host.runtime.add(network, sandbox("web")).ips?.[0] ?? {};
  t.match(address, /^10\.219\.5\./);
  await new Promise((later) => setTimeout(later, 1100));
  t.notOk(codes().includes("addresses-given-back"), "a pod has kept its own");
});
