/** Networks and pods of which only a cache tells: those that multus attaches, and those of runtimes that have them in memory. */

import { test } from "tap";
import { ResultsCache } from "../../../../src/operator/alive/cache/results-cache.ts";
import { capacity } from "../../../../src/operator/capacity/capacity.ts";
import { check } from "../../../../src/operator/check/check.ts";
import type { MemoryMachine } from "../../../harness/memory-machine.ts";
import {
  contextOf,
  MULTUS_RESULTS,
  memoryNode,
  places,
  RESULTS,
  remember,
  startOperator,
} from "../../memory-node.ts";

const POD = "3f6940ab5ab43bc522569d15b23f8c1bbde1d7678b080398506924fc01d72755";

/** The NetworkAttachmentDefinition `storage-net`, as multus passes it on. */
function definition(subnet: string): object {
  const ipam = { type: "host-local", subnet };
  return { cniVersion: "1.0.0", name: "storage-net", type: "macvlan", ipam };
}

/** A pod with `eth0` in `net`, which a file configures, and `net1` in `storage-net`; the runtime called multus alone. */
function nodeWithPod(): MemoryMachine {
  const machine = memoryNode({ "10.0.0.2": `${POD}\r\neth0` });
  const { disk } = machine;
  disk.put("/data/storage-net/10.9.0.2", `${POD}\r\nnet1`);
  const ipam = { type: "host-local", subnet: "10.0.0.0/29" };
  const delegate = { cniVersion: "1.0.0", name: "net", type: "bridge", ipam };
  const multus = { name: "multus-cni-network", type: "multus", delegates: [delegate] };
  disk.put("/conf/00-multus.conf", JSON.stringify(multus));
  const pod = { pod: "default/web", netns: "/run/netns/web" };
  remember(machine, POD, { ...pod, addresses: ["10.0.0.2/29"] }, "multus-cni-network");
  remember(machine, POD, { ...pod, addresses: ["10.0.0.2/29"] }, "net", MULTUS_RESULTS);
  const configuration = definition("10.9.0.0/28");
  const storage = { ...pod, interfaceName: "net1", addresses: ["10.9.0.2/28"], configuration };
  remember(machine, POD, storage, "storage-net", MULTUS_RESULTS);
  machine.wait(3_600_000);
  return machine;
}

const documentOf = (
  machine: MemoryMachine,
  command: typeof check,
  operands: readonly string[] = [],
): unknown => command.run(contextOf(startOperator(machine).system, places, operands)).document();

test("a network that multus' cache names is configured, with the ranges that it has there", async (t) => {
  t.match(documentOf(nodeWithPod(), capacity, ["storage-net"]), {
    networks: [
      { network: "storage-net", configuration: MULTUS_RESULTS, pods: 13n, ranges: [{ used: 1n }] },
    ],
  });
  const { findings } = documentOf(nodeWithPod(), check) as { findings: { code: string }[] };
  t.notOk(findings.some(({ code }) => code === "unconfigured-network"));
});

test("an attachment that is in both caches, since multus came later, is one", async (t) => {
  const machine = nodeWithPod();
  const count = (): number => {
    const cache = new ResultsCache(contextOf(startOperator(machine).system, places));
    return cache.knownBut(() => []).attachments.filter(({ network }) => network === "net").length;
  };
  t.equal(count(), 1);
  remember(machine, POD, { pod: "default/web" }, "net");
  t.equal(count(), 1);
});

test("an entry of multus without an attachment hides none of the runtime's", async (t) => {
  const machine = nodeWithPod();
  remember(machine, "c9", { netns: "/run/netns/c9", pod: "default/own" }, "net");
  machine.disk.put(`${MULTUS_RESULTS}/net-c9-eth0`, "");
  const cache = new ResultsCache(contextOf(startOperator(machine).system, places));
  t.ok(cache.knownBut(() => []).attachments.some(({ pod }) => pod === "default/own"));

  remember(machine, "c9", { pod: "default/old" }, "net", MULTUS_RESULTS);
  const later = new ResultsCache(contextOf(startOperator(machine).system, places));
  const [found] = later.knownBut(() => []).attachments.filter(({ pod }) => pod !== "default/web");
  t.equal(found?.networkNamespace, "/run/netns/c9", "one that names a namespace comes first");
});

test("the latest configuration counts, and before it that of a file", async (t) => {
  const machine = nodeWithPod();
  machine.wait(60_000);
  const later = { interfaceName: "net1", configuration: definition("10.9.0.0/24") };
  remember(machine, POD.replaceAll("3", "4"), later, "storage-net", MULTUS_RESULTS);
  t.match(documentOf(machine, capacity, ["storage-net"]), { networks: [{ pods: 253n }] });

  machine.disk.put("/conf/storage.conf", JSON.stringify(definition("10.9.0.0/30")));
  t.match(documentOf(machine, capacity, ["storage-net"]), {
    networks: [{ configuration: "/conf/storage.conf", pods: 1n }],
  });
});

test("BuildKit's network is known from libcni's cache alone, as it should be", async (t) => {
  const machine = memoryNode({});
  const container = "7fr40lq4s7xvl3h1ek3ntb0sr";
  machine.disk.put("/data/buildkit/10.10.0.2", `${container}\r\neth0`);
  const ipam = { type: "buildkit-cni-host-local", ranges: [[{ subnet: "10.10.0.0/16" }]] };
  const configuration = { name: "buildkit", plugins: [{ type: "ptp", ipam }] };
  remember(machine, container, { configuration, pod: "builder" }, "buildkit");
  t.match(documentOf(machine, capacity), {
    networks: [{ configuration: RESULTS, pods: 65533n }],
  });
  const { findings } = documentOf(machine, check) as { findings: { code: string }[] };
  t.notOk(findings.some(({ code }) => code === "unconfigured-network"));
});

test("the cache of a runtime of Kubernetes configures no network: of such a one the file is gone", async (t) => {
  const machine = memoryNode({ "10.0.0.2": `${POD}\r\neth0` });
  const ipam = { type: "host-local", subnet: "10.0.0.0/29" };
  const configuration = { name: "net", type: "bridge", ipam };
  remember(machine, POD, { configuration, pod: "default/web" }, "net");
  t.match(documentOf(machine, capacity), { networks: [{ configuration: null }] });
  const { findings } = documentOf(machine, check) as { findings: { code: string }[] };
  t.ok(findings.some(({ code }) => code === "unconfigured-network"));
});
