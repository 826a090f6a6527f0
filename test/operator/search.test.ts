/** Searching: what an operand means, and what is said of an address without a reservation: it is free only if nobody uses it. */

import { test } from "tap";
import { gc } from "../../src/operator/gc/gc.ts";
import { list } from "../../src/operator/reservations/list.ts";
import { release } from "../../src/operator/reservations/release.ts";
import { show } from "../../src/operator/reservations/show.ts";
import { matches, parseQuery } from "../../src/operator/search.ts";
import type { MemoryMachine } from "../harness/memory-machine.ts";
import type { Machine } from "../harness/proc.ts";
import { configure, configureNet, memoryNode, remember, runOn } from "./memory-node.ts";

for (const [operand, kind, text = operand] of [
  ["10.0.0.9", "address"],
  ["10.0.0.9/24", "address", "10.0.0.9"],
  ["FD00:0::9", "address", "fd00::9"],
  ["default/web", "pod"],
  ["/lone", "pod", "lone"],
  ["4f1d6e", "name"],
  ["web", "name"],
] as const) {
  test(`${operand} is parsed as ${kind}`, async (t) => {
    t.match(parseQuery(operand), { kind, text });
  });
}

for (const [operand, message] of [
  ["a:b", 'expected an address, a container id or a pod as namespace/name, found "a:b"'],
  ["a/b/c", 'expected an address, a container id or a pod as namespace/name, found "a/b/c"'],
  ["300.1.1.1", "expected an address such as 10.88.0.7, found 300.1.1.1"],
] as const) {
  test(`${operand} is wrong usage`, async (t) => {
    t.throws(() => parseQuery(operand), { message });
  });
}

for (const [operand, isMeant] of [
  ["10.0.0.9", true],
  ["10.0.0.8", false],
  ["4f1d6e0c8b7a", true],
  ["4f1d", true],
  ["1d6e", false],
  ["default/web", true],
  ["web", true],
  ["we", false],
  ["/web", false],
] as const) {
  test(`${operand} is ${isMeant ? "" : "not "}10.0.0.9 of 4f1d6e0c8b7a, pod default/web`, async (t) => {
    const found = matches(parseQuery(operand), "10.0.0.9", "4f1d6e0c8b7a", () => "default/web");
    t.equal(found, isMeant);
  });
}

test("an address that names no container is found by no name", async (t) => {
  t.notOk(matches(parseQuery("c1"), "10.0.0.9", "", () => ""));
});

/** A container that lives by the entry of `eth0` in libcni's cache, and also holds 10.9.0.3, in `other`, of which no entry is. */
function nodeWithTwoNetworks(): [MemoryMachine, Machine] {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
  configureNet(machine, "10.0.0.0/28");
  const ipam = { type: "host-local", subnet: "10.9.0.0/28" };
  configure(machine, "other.conf", { cniVersion: "1.0.0", name: "other", type: "bridge", ipam });
  machine.disk.put("/data/other/10.9.0.3", "c1\r\nnet1");
  remember(machine, "c1", { netns: "/run/netns/c1", addresses: ["10.0.0.2/28"] });
  machine.wait(3_600_000);
  return [machine, { mounted: { "/run/netns/c1": 50 }, addresses: { 50: ["10.0.0.2"] } }];
}

test("who is alive by one address is so by all that it holds, in whatever network", async (t) => {
  const alive = { reservations: [{ address: "10.9.0.3", alive: true }] };
  for (const operand of ["10.9.0.3", "c1"]) {
    const [machine, kernel] = nodeWithTwoNetworks();
    const options = { "--network": "other" };
    t.match(runOn(machine, show, { kernel, options, operands: [operand] }).document(), alive);
    const released = runOn(machine, release, {
      ...{ kernel, options: { ...options, "--yes": "" }, operands: [operand] },
    });
    t.match(released.document(), { released: [], left: [{ address: "10.9.0.3" }] }, operand);
  }
  const [machine, kernel] = nodeWithTwoNetworks();
  t.match(runOn(machine, list, { kernel, operands: ["other"] }).document(), alive);
  runOn(machine, gc, { kernel, options: { "--yes": "", "--now": "" }, operands: ["other"] });
  t.ok(machine.disk.has("/data/other/10.9.0.3"));
});

test("that the node has an address of a dead container tells nothing of its others", async (t) => {
  const [machine, { mounted, ...kernel }] = nodeWithTwoNetworks();
  const own = { namespace: 1, addresses: ["10.0.0.2"] };
  const ofNode = { ...kernel, addresses: {}, processes: { 1: own, 99: own } };
  t.match(runOn(machine, list, { kernel: ofNode }).document(), {
    reservations: [
      { address: "10.0.0.2", alive: true },
      { address: "10.9.0.3", alive: false },
    ],
  });
});

test("a pod's name is no other's, though the history would have both as one word", async (t) => {
  t.notOk(matches(parseQuery("default/j\u00f6b"), "10.0.0.9", "c1", () => "default/j?b"));
});

const place = "--conf-dir /conf --data-dir /data --cache-dir /cache";

test("an address that nobody has, and nobody has reserved", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/28");
  const { document, exitCode } = runOn(machine, show, { operands: ["10.0.0.9"] });
  t.equal(exitCode, 1);
  const text = "10.0.0.9 has no reservation in net. It is free, in range 10.0.0.1-10.0.0.14.";
  t.same(document(), { reservations: [], hints: [{ reason: "free", network: "net", text }] });
});

test("an address that the node inside a container has, and nobody has reserved", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/28");
  const own = { namespace: 1, addresses: ["10.0.0.9"] };
  const kernel = { processes: { 1: own, 99: own }, isContained: true };
  const { document, exitCode } = runOn(machine, show, { kernel, operands: ["10.0.0.9"] });
  t.equal(exitCode, 1);
  const text = `10.0.0.9 has no reservation in net. It is in range 10.0.0.1-10.0.0.14, but the node itself has it; see: host-local check net ${place}`;
  t.same(document(), { reservations: [], hints: [{ reason: "used", network: "net", text }] });
});

test("an address that only a file has which no runtime uses is not called free", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/28");
  const ipam = { type: "host-local", subnet: "10.9.0.0/28" };
  configure(machine, "other.conf", { cniVersion: "1.0.0", name: "net", type: "bridge", ipam });
  t.match(runOn(machine, show, { operands: ["10.9.0.9"] }).document(), {
    hints: [{ reason: "outside", network: "net" }],
  });
});
