/** What DEL keeps of addresses that are given back at once. */

import { test } from "tap";
import { readFailedCalls } from "../../src/store/failed-calls/failed-calls-file.ts";
import { DATA_DIRECTORY, MemoryMachine } from "../harness/memory-machine.ts";
import { type CallOptions, Network } from "../harness/network.ts";

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
    const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/30" });
    const { machine } = network;
    network.add("c1", options);
    machine.time += milliseconds;

    t.equal(network.del("c1", options).exitCode, 0);
    t.equal(network.del("c1", options).exitCode, 0, "the runtime's own, which finds nothing");

    const record = { ...known, kind: "returned", time: machine.time, verb: "DEL", after };
    const expected = after === undefined ? [] : [{ ...record, pod: "default/web" }];
    t.strictSame(
      readFailedCalls(machine.start()),
      expected,
      `${milliseconds} ${JSON.stringify(options)}`,
    );
  }
});
