/** What is said of an address without a reservation: it is free only if nobody uses it. */

import { test } from "tap";
import { show } from "../../../src/operator/reservations/show.ts";
import type { Machine } from "../../harness/proc.ts";
import { configure, configureNet, memoryNode, remember, runOn } from "../memory-node.ts";

const range = "range 10.0.0.1-10.0.0.14 of net";
const place = "--conf-dir /conf --data-dir /data --cache-dir /cache";
const own = { namespace: 1, addresses: ["10.0.0.9"] };
const nodeWith9 = { 1: own, 99: own };

const cases: Readonly<Record<string, readonly [kernel: Machine, who: string | undefined]>> = {
  nobody: [{}, undefined],
  "a process": [
    { processes: { 7: { namespace: 50, addresses: ["10.0.0.9"] } } },
    "the network namespace of process 7 has it",
  ],
  "a namespace without a process": [
    { mounted: { "/run/netns/lost": 50 }, addresses: { 50: ["10.0.0.9"] } },
    "the network namespace /run/netns/lost has it",
  ],
  "the node": [{ processes: nodeWith9 }, "the node itself has it"],
  "the node inside a container": [
    { processes: nodeWith9, isContained: true },
    "the node itself has it",
  ],
};

for (const [what, [kernel, who]] of Object.entries(cases)) {
  test(`an address that ${what} has, and nobody has reserved`, async (t) => {
    const machine = memoryNode({});
    configureNet(machine, "10.0.0.0/28");
    const { document, exitCode } = runOn(machine, show, { kernel, operands: ["10.0.0.9"] });
    t.equal(exitCode, 1);
    const hint =
      who === undefined
        ? { reason: "free", network: "net", text: `It is free, in ${range}.` }
        : {
            reason: "used",
            network: "net",
            text: `It has no reservation, in ${range}, but ${who}; see: host-local check net ${place}`,
          };
    t.same(document(), { reservations: [], hints: [hint] });
  });
}

test("an address that only a file has which no runtime uses is not called free", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/28");
  const ipam = { type: "host-local", subnet: "10.9.0.0/28" };
  configure(machine, "other.conf", { cniVersion: "1.0.0", name: "net", type: "bridge", ipam });
  t.match(runOn(machine, show, { operands: ["10.9.0.9"] }).document(), {
    hints: [{ reason: "outside", network: null }],
  });
});

test("what libcni's cache names is in one order, whatever that of its directory", async (t) => {
  const hintsWith = (...ids: readonly string[]): unknown => {
    const machine = memoryNode({});
    configureNet(machine, "10.0.0.0/28");
    for (const id of ids) remember(machine, id, { pod: "default/web" });
    return runOn(machine, show, { operands: ["default/web"] }).document();
  };
  const hints = hintsWith("c1", "c2", "c3");

  t.match(hints, { hints: ["c1", "c2", "c3"].map((id) => ({ text: `names container ${id},` })) });
  t.same(hintsWith("c3", "c1", "c2"), hints);
});
