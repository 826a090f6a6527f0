/** What the verbs keep of calls that fail, and of addresses that are given back at once. */

import { test } from "tap";
import { main } from "../../src/main.ts";
import type { CallRecord } from "../../src/store/failed-calls/failed-call.ts";
import { readFailedCalls } from "../../src/store/failed-calls/failed-calls-file.ts";
import { refuse } from "../harness/interruption.ts";
import { DATA_DIRECTORY, MemoryMachine } from "../harness/memory-machine.ts";
import { type CallOptions, Network } from "../harness/network.ts";
import { attachmentCall, networkCall } from "../harness/runtime-call.ts";

const subnet = { subnet: "10.0.0.0/30" };

/** As containerd calls it. */
const asSandbox: CallOptions = {
  cniArgs:
    "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=c1",
};

const known = {
  network: "net",
  dataDir: DATA_DIRECTORY,
  container: "c1",
  interfaceName: "eth0",
} as const;

function kept(machine: MemoryMachine): readonly CallRecord[] {
  return readFailedCalls(machine.start());
}

test("an ADD, DEL or CHECK that fails is kept in the words that the runtime receives", async (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  const { machine } = network;
  network.add("c2");
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  const { error: full } = network.add("c1", { ...asSandbox, traceparent });
  const { error: missing } = network.check("c1");
  network.del("c2");
  network.put("10.0.0.2", "c1\r\neth0");
  const interrupt = refuse("unlink", "EPERM", `${network.directory}/10.0.0.2`);
  const { error: immutable } = network.del("c1", { interrupt });

  const call = { ...known, kind: "failed", time: machine.time, pod: "" };
  t.strictSame(kept(machine), [
    { ...call, verb: "ADD", pod: "default/web", ...wordsOf(full) },
    { ...call, verb: "CHECK", ...wordsOf(missing) },
    { ...call, verb: "DEL", ...wordsOf(immutable) },
  ]);
  t.match(full?.details, /4bf92f3577b34da6a3ce929d0e0e4736/);
});

function wordsOf(error: { code: number; msg: string; details?: string } | undefined) {
  return { code: error?.code, message: error?.msg, details: error?.details ?? "" };
}

test("what is not known is empty", async (t) => {
  const document = { cniVersion: "1.1.0", name: "net", type: "bridge" };
  const call = (configuration: object | string, verb = "ADD") => {
    const made = attachmentCall(verb, { containerId: "c1" }, {});
    const stdin = typeof configuration === "string" ? configuration : JSON.stringify(configuration);
    return { ...made, stdin };
  };
  for (const [what, made, expected] of [
    ["no JSON", call("nonsense"), { network: "", dataDir: "", container: "c1", code: 6 }],
    ["no name", call({}), { network: "", dataDir: "", container: "c1", code: 7 }],
    ["no ipam", call(document), { network: "net", dataDir: "", code: 999 }],
    ["no range", call({ ...document, ipam: {} }), { network: "net", dataDir: DATA_DIRECTORY }],
    ["a path", call({ ...document, ipam: { dataDir: "/a//b/" } }), { dataDir: "/a/b" }],
    [
      "a wrong container id",
      attachmentCall("DEL", { containerId: "%%" }, document),
      { verb: "DEL", container: "%%", interfaceName: "eth0", code: 4 },
    ],
    [
      "a GC",
      networkCall("GC", { ...document, "cni.dev/valid-attachments": [] }),
      { verb: "GC", network: "net", container: "", interfaceName: "", pod: "" },
    ],
  ] as const) {
    const machine = new MemoryMachine();
    t.equal(machine.runPlugin(made).exitCode, 1, what);
    t.match(kept(machine), [{ kind: "failed", ...expected }], what);
  }
});

test("STATUS, VERSION, another plugin and what is no verb are not kept", async (t) => {
  const document = { cniVersion: "1.1.0", name: "a/b", type: "bridge" };
  const { environment, stdin } = attachmentCall("ADD", { containerId: "c1" }, document);
  for (const [call, name] of [
    [networkCall("STATUS", document), "host-local"],
    [{ environment: { ...environment, CNI_COMMAND: "MOVE" }, stdin }, "host-local"],
    [{ environment, stdin }, "static"],
  ] as const) {
    const machine = new MemoryMachine();
    const { exitCode } = machine.run(call, (system) => main(system, name));
    t.equal(exitCode, 1);
    t.notOk(machine.disk.has("/run/host-local"));
  }
});

test("an address that a pod's sandbox gives back within a second is kept", async (t) => {
  for (const [milliseconds, options, after] of [
    [0, asSandbox, 0],
    [999, asSandbox, 999],
    [1000, asSandbox, undefined],
    // The clock was set back meanwhile.
    [-5, asSandbox, undefined],
    [5, { cniArgs: "IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=c2" }, undefined],
    [5, {}, undefined],
  ] as const) {
    const network = new Network(new MemoryMachine(), subnet);
    const { machine } = network;
    network.add("c1", options);
    machine.time += milliseconds;

    t.equal(network.del("c1", options).exitCode, 0);
    t.equal(network.del("c1", options).exitCode, 0, "the runtime's own, which finds nothing");

    const record = { ...known, kind: "returned", time: machine.time, verb: "DEL", after };
    const expected = after === undefined ? [] : [{ ...record, pod: "default/web" }];
    t.strictSame(kept(machine), expected, `${milliseconds} ${JSON.stringify(options)}`);
  }
});

test("a call that succeeds makes no further system call, but for one look at a sandbox's address", async (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  for (const [options, looks] of [
    [{}, 0],
    [asSandbox, 1],
  ] as const) {
    for (const verb of ["ADD", "CHECK", "DEL"]) {
      network.machine.wait(5000);
      const { calls } = network.call(verb, "c1", options);
      const own = calls.filter(({ path }) => path.startsWith("/run/host-local"));
      t.strictSame(own, [], verb);
      const path = `${network.directory}/10.0.0.2`;
      const found = calls.filter((one) => one.operation === "linkStatus" && one.path === path);
      if (verb === "DEL") t.equal(found.length, looks);
    }
  }
});

test("a DEL whose address has no date to be seen succeeds", async (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  network.add("c1", asSandbox);
  const path = `${network.directory}/10.0.0.2`;

  const { exitCode } = network.del("c1", {
    ...asSandbox,
    interrupt: refuse("linkStatus", "EIO", path),
  });

  t.equal(exitCode, 0);
  t.strictSame(network.reservations(), {});
  t.strictSame(kept(network.machine), []);
});
