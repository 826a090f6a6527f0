/** What the annotations of a pod decide, where the operator's configuration names them. */

import { test } from "tap";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { type Answer, type CallOptions, Network } from "../harness/network.ts";

const four = { subnet: "10.0.0.0/29" };
const dual = { ranges: [[four], [{ subnet: "2001:db8::/120" }]] };

function network(ipam: object): Network {
  return new Network(new MemoryMachine(), ipam);
}

/** As containerd and CRI-O send the annotations to a plugin with the capability. */
function annotated(annotations: unknown): CallOptions {
  return {
    cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0",
    top: { runtimeConfig: { "io.kubernetes.cri.pod-annotations": annotations } },
  };
}

function first({ addresses }: Answer): string | undefined {
  return addresses[0];
}

test("annotations count for nothing where the configuration does not name them", async (t) => {
  const net = network(four);
  const asked = annotated({ "example.com/ip": "10.0.0.6", ips: "10.0.0.6", IP: "10.0.0.6" });
  t.equal(first(net.add("c1", asked)), "10.0.0.2");
});

test("a pod requests an address of each family by the annotation that requested names", async (t) => {
  const requested = { by: ["example.com/ip", "example.com/ips"] };
  const net = network({ ...dual, requested });
  const both = annotated({ "example.com/ips": "2001:db8::9, 10.0.0.5/24" });
  t.same(net.add("c1", both).addresses, ["10.0.0.5", "2001:db8::9"]);
  t.match(net.add("c2", both).error, { code: 999, msg: /requested IP address 10\.0\.0\.5 is not/ });
  t.same(net.add("c3", annotated({ "example.com/ip": "10.0.0.4" })).addresses[0], "10.0.0.4");
  t.same(net.add("c4", annotated({ "example.com/ip": "" })).addresses[0], "10.0.0.6");
  t.same(net.del("c1", both).exitCode, 0);
});
