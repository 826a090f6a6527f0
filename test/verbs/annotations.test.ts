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

test("what a runtime or multus tells counts before an annotation of that name", async (t) => {
  const net = network({ ...four, sticky: { by: ["K8S_POD_NAME"] } });
  const forged = { K8S_POD_NAME: "web-0" };
  const own = first(net.add("c1", annotated({}, "web-0")));
  net.del("c1");
  t.not(first(net.add("c2", annotated(forged, "web-1"))), own);
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

test("the other arguments of a call request an address by a name, too", async (t) => {
  const net = network({ ...four, requested: { by: ["VM_IP"] } });
  t.equal(first(net.add("c1", { cniArgs: "IgnoreUnknown=1;VM_IP=10.0.0.5" })), "10.0.0.5");
  t.equal(first(net.add("c2", { top: { args: { cni: { VM_IP: "10.0.0.4" } } } })), "10.0.0.4");
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

test("annotations of another form tell nothing", async (t) => {
  const net = network({ ...four, requested: { by: ["a"] }, sticky: { by: ["a"] } });
  for (const [at, odd] of [null, "x", 7, [], ["10.0.0.5"], { a: 7 }, { a: null }].entries()) {
    t.equal(net.add(`c${at}`, annotated(odd)).exitCode, 0, JSON.stringify(odd));
    net.del(`c${at}`);
  }
});

for (const [requested, msg] of [
  [7, /ipam\.requested/],
  [{ by: "a" }, /ipam\.requested\.by/],
  [{}, "invalid requested: no argument"],
  [{ by: [] }, "invalid requested: no argument"],
  [{ by: [""] }, "invalid requested: no argument"],
] as const) {
  test(`requested that is ${JSON.stringify(requested)} is an error in ADD, and none in DEL`, async (t) => {
    const net = network({ ...four, requested });
    t.match(net.add("c1").error, { code: 999, msg });
    t.equal(net.del("c1").exitCode, 0);
  });
}
