/** Pods of a network whose file is no longer the first: each DEL goes to the network of the first file, and leaks an address. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { cacheEntry } from "../../harness/results-cache.ts";
import {
  configure,
  configureNet,
  findingsOn,
  MULTUS_RESULTS,
  memoryNode,
  RESULTS,
  remember,
} from "../memory-node.ts";

const WEB = { pod: "default/web", netns: "/run/netns/web", addresses: ["10.0.0.2/29"] };

const cilium = { name: "cilium", cniVersion: "0.3.1", type: "cilium-cni" };

/** A node with the pod `default/web` in `net`, to which the file of another network came later. */
function nodeWithPod({
  entry = WEB,
  file = "00-cilium.conf",
  document = cilium as JsonObject,
} = {}): MemoryMachine {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
  configureNet(machine, "10.0.0.0/29");
  remember(machine, "c1", entry);
  machine.wait(60_000);
  configure(machine, file, document);
  return machine;
}

function found(
  machine: MemoryMachine,
  mounted: Readonly<Record<string, number>> = { "/run/netns/web": 50 },
) {
  const kernel = { mounted, addresses: { 50: ["10.0.0.2"] } };
  return findingsOn(machine, { kernel }).filter(({ code }) => code === "shadowed-configuration");
}

test("a file that sorts first takes the DELs of the pods of the former first", async (t) => {
  const machine = nodeWithPod();

  const [finding, ...others] = found(machine);

  t.same(others, []);
  t.match(finding, {
    network: "net",
    path: "/conf/net.conf",
    message:
      "/conf/00-cilium.conf comes first, and the runtimes of Kubernetes use it alone: net has 1 running pod whose DEL goes to cilium, so that the addresses leak: default/web",
    remedy: /^if the network of that file is meant, restart these pods/,
    commands: [/^host-local gc net /],
  });
});

test("where the other network has running pods, too, its file stays", async (t) => {
  const machine = nodeWithPod();
  remember(machine, "c2", { pod: "default/db", netns: "/run/netns/db" }, "cilium");
  const [finding] = found(machine, { "/run/netns/web": 50, "/run/netns/db": 60 });
  t.match(finding?.remedy, /its file has to stay where it is$/);
});

const multus = { name: "multus-cni-network", type: "multus-shim" };

for (const [what, node, mounted] of [
  ["whose file comes last", { file: "zz-cilium.conf" }],
  ["whose first file is that of multus", { document: multus }],
  ["whose container is podman's", { entry: { ...WEB, pod: "web" } }],
  ["whose first file no runtime can use", { document: { name: "cilium", plugins: [cilium] } }],
  ["whose pod is dead", {}, {}],
] as const) {
  test(`not on a node ${what}`, async (t) => {
    t.same(found(nodeWithPod(node), mounted), []);
  });
}

test("nor where the pods came after the file: the runtime's default is another", async (t) => {
  const machine = nodeWithPod();
  machine.wait(60_000);
  machine.disk.put("/data/net/10.0.0.2", "c1\r\neth0");
  t.same(found(machine), []);
});

test("nor of a pod that is in both networks, or that multus attached", async (t) => {
  const machine = nodeWithPod();
  remember(machine, "c1", { ...WEB, interfaceName: "eth1" }, "cilium");
  t.same(found(machine), []);

  const attached = nodeWithPod();
  const { name, text } = cacheEntry("net", "c1", WEB);
  attached.disk.unlink(`${RESULTS}/${name}`);
  attached.disk.makeDirectories(MULTUS_RESULTS);
  attached.disk.put(`${MULTUS_RESULTS}/${name}`, text);
  t.same(found(attached), []);
});

/** A node with the files of two networks, of which pods have no address yet. */
function newNode(first: JsonObject = cilium): MemoryMachine {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/29");
  configure(machine, "00-first.conf", first);
  machine.disk.removeDirectory("/data/net");
  return machine;
}

test("that another file comes first is said before the first pod", async (t) => {
  t.match(found(newNode()), [
    {
      severity: "info",
      network: "net",
      path: "/conf/net.conf",
      message:
        "/conf/00-first.conf comes first, and the runtimes of Kubernetes use it alone: pods get addresses of cilium, and none of net",
      remedy:
        /^if this network is meant, drain the node, and rename the file so that it comes first/,
    },
  ]);
});

test("not once it has been used, as by podman, nor behind multus", async (t) => {
  const used = newNode();
  used.disk.put("/data/net/last_reserved_ip.0", "10.0.0.2");
  t.same(found(used), []);
  t.same(found(newNode(multus)), []);

  const podman = newNode();
  podman.disk.rename("/conf/net.conf", "/conf/87-podman.conf");
  t.same(found(podman), []);
});
