import { test } from "tap";
import { main } from "../../src/main.ts";
import { staticPlugin } from "../../src/static/static.ts";
import { MemoryMachine, type Outcome } from "../harness/memory-machine.ts";

const gateway = { gateway: "10.1.2.1" };
const ipam = { addresses: [{ address: "10.1.2.3/24", ...gateway }] };
const document = { cniVersion: "1.1.0", name: "net", ipam };

/** Calls the plugin on an empty machine. */
function call(verb: string, members: object = {}, netns = "/run/netns/pod"): Outcome {
  const environment = {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: "c1",
    CNI_IFNAME: "eth0",
    CNI_NETNS: netns,
    CNI_PATH: "/opt/cni/bin",
  };
  const stdin = JSON.stringify({ ...document, ...members });
  return new MemoryMachine().run({ environment, stdin }, (system) =>
    main(system, staticPlugin.name),
  );
}

const silent = { exitCode: 0, stdout: "", stderr: "" };

test("ADD prints the configured addresses, and touches nothing but its streams and namespaces", async (t) => {
  const { stdout, calls } = call("ADD");

  t.same(JSON.parse(stdout), { cniVersion: "1.1.0", ips: ipam.addresses });
  t.same(
    calls.map(({ operation, path }) => `${operation} ${path}`),
    [
      "readStandardInput /dev/stdin",
      "namespaceHandle /run/netns/pod",
      "writeStandardOutput /dev/stdout",
    ],
  );
});

test("ADD and DEL refuse the plugin's own network namespace", async (t) => {
  for (const verb of ["ADD", "DEL"]) {
    t.match(call(verb, {}, "/proc/self/ns/net"), { exitCode: 1, stdout: /"code": 8,/ }, verb);
  }
});

test("DEL, GC and STATUS do nothing, whatever ipam is", async (t) => {
  for (const verb of ["DEL", "GC", "STATUS"]) t.match(call(verb, { ipam: 5 }), silent, verb);
});

for (const [what, ips, isAccepted] of [
  ["the same gateway and another prefix length", [{ ...gateway, address: "10.1.2.3/8" }], true],
  ["another address only", [{ address: "10.1.2.4/24" }], true],
  ["another gateway", [{ address: "10.1.2.3/24", gateway: "10.1.2.2" }], false],
  ["no gateway", [{ address: "10.1.2.3/24" }], false],
] as const) {
  test(`CHECK ${isAccepted ? "accepts" : "refuses"} a previous result with ${what}`, async (t) => {
    const { exitCode, stdout } = call("CHECK", { prevResult: { ips } });
    t.equal(exitCode, isAccepted ? 0 : 1);
    t.match(stdout, isAccepted ? /^$/ : "static: Failed to match addr 10.1.2.3 on interface eth0");
  });
}

test("CHECK does not compare a gateway that is not configured", async (t) => {
  const addresses = [{ address: "10.1.2.3/24" }];
  t.match(call("CHECK", { ipam: { addresses }, prevResult: { ips: ipam.addresses } }), silent);
});
