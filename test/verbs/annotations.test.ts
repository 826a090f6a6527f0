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
function annotated(annotations: unknown, name = "web-0", namespace = "default"): CallOptions {
  const pod = `K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name}`;
  return {
    cniArgs: `IgnoreUnknown=1;${pod}`,
    top: { runtimeConfig: { "io.kubernetes.cri.pod-annotations": annotations } },
  };
}

function first({ addresses }: Answer): string | undefined {
  return addresses[0];
}

test("an annotation that sticky names tells whose address it is, whatever the pod's name", async (t) => {
  const net = network({ ...four, sticky: { by: ["K8S_POD_NAMESPACE", "example.com/vm"] } });
  const db = { "example.com/vm": "db", other: "x" };
  const own = first(net.add("c1", annotated(db, "launcher-a")));
  net.del("c1");

  t.not(first(net.add("c2", annotated({ "example.com/vm": "web" }, "launcher-b"))), own);
  t.not(first(net.add("c3", annotated(db, "launcher-a", "elsewhere"))), own, "another namespace");
  t.not(first(net.add("c4", annotated({ "Example.com/VM": "db" }, "launcher-a"))), own, "letters");
  t.equal(first(net.add("c5", annotated(db, "launcher-c"))), own);
});

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

test("what is no address, or not in the ranges, is an error that names it", async (t) => {
  const net = network({ ...four, requested: { by: ["example.com/ip"] } });
  for (const [value, msg, details] of [
    ["db", "invalid IP address db", /at the argument or annotation example\.com\/ip$/],
    ["10.0.0.5,,", "invalid IP address ", /example\.com\/ip/],
    ["10.9.9.9", "failed to allocate all requested IPs: 10.9.9.9", /./],
  ] as const) {
    t.match(net.add("c1", annotated({ "example.com/ip": value })).error, {
      code: 999,
      msg,
      details,
    });
  }
  t.same(net.reserved(), []);
});
