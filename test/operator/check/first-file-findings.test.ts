/** Pods of a network whose file is no longer the first: each DEL goes to the network of the first file, and leaks an address. */

import { test } from "tap";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { cacheEntry } from "../../harness/results-cache.ts";
import {
  configure,
  configureNet,
  findingsOn,
  MULTUS_RESULTS,
  memoryNode,
  remember,
} from "../memory-node.ts";

const WEB = { pod: "default/web", netns: "/run/netns/web", addresses: ["10.0.0.2/29"] };

/** A node with the pod `default/web` in `net`. */
function nodeWithPod(entry: typeof WEB = WEB): MemoryMachine {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
  configureNet(machine, "10.0.0.0/29");
  remember(machine, "c1", entry);
  machine.wait(60_000);
  return machine;
}

const cilium = { name: "cilium", cniVersion: "0.3.1", type: "cilium-cni" };

function found(
  machine: MemoryMachine,
  mounted: Readonly<Record<string, number>> = { "/run/netns/web": 50 },
) {
  const kernel = { mounted, addresses: { 50: ["10.0.0.2"] } };
  return findingsOn(machine, { kernel }).filter(({ code }) => code === "shadowed-configuration");
}

test("a file that sorts first takes the DELs of the pods of the former first", async (t) => {
  const machine = nodeWithPod();
  configure(machine, "00-cilium.conf", cilium);

  const [finding, ...others] = found(machine);

  t.same(others, []);
  t.match(finding, {
    network: "net",
    path: "/conf/net.conf",
    message:
      "/conf/00-cilium.conf comes first, and the runtimes of Kubernetes use it alone: the DEL of 1 running pod goes to cilium, and what they hold in net leaks: default/web",
    remedy: /^if the network of that file is meant, restart these pods/,
    commands: [/^host-local gc net /],
  });
});

test("where the other network has running pods, too, its file stays", async (t) => {
  const machine = nodeWithPod();
  configure(machine, "00-cilium.conf", cilium);
  remember(machine, "c2", { pod: "default/db", netns: "/run/netns/db" }, "cilium");
  const [finding] = found(machine, { "/run/netns/web": 50, "/run/netns/db": 60 });
  t.match(finding?.remedy, /its file has to stay where it is$/);
});

/** Nodes of which nothing is wrong, or nothing is known. */
const fine: Readonly<Record<string, () => MemoryMachine>> = {
  "whose file comes last": () => {
    const machine = nodeWithPod();
    configure(machine, "zz-cilium.conf", cilium);
    return machine;
  },
  "whose pods came after the file: the runtime's default is another": () => {
    const machine = memoryNode({});
    configure(machine, "00-cilium.conf", cilium);
    configureNet(machine, "10.0.0.0/29");
    machine.wait(60_000);
    machine.disk.put("/data/net/10.0.0.2", "c1\r\neth0");
    remember(machine, "c1", WEB);
    return machine;
  },
  "whose first file is that of multus": () => {
    const machine = nodeWithPod();
    configure(machine, "00-multus.conf", { name: "multus-cni-network", type: "multus-shim" });
    return machine;
  },
  "whose pod multus attached": () => {
    const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
    configureNet(machine, "10.0.0.0/29");
    const { name, text } = cacheEntry("net", "c1", WEB);
    machine.disk.makeDirectories(MULTUS_RESULTS);
    machine.disk.put(`${MULTUS_RESULTS}/${name}`, text);
    machine.wait(60_000);
    configure(machine, "00-cilium.conf", cilium);
    return machine;
  },
  "whose pod is in both networks": () => {
    const machine = nodeWithPod();
    configure(machine, "00-cilium.conf", cilium);
    remember(machine, "c1", { ...WEB, interfaceName: "eth1" }, "cilium");
    return machine;
  },
  "whose container is podman's": () => {
    const machine = nodeWithPod({ ...WEB, pod: "/web" });
    configure(machine, "00-cilium.conf", cilium);
    return machine;
  },
  "whose first file no runtime can use": () => {
    const machine = nodeWithPod();
    configure(machine, "00-cilium.conf", { name: "cilium", plugins: [cilium] });
    return machine;
  },
};

for (const [what, make] of Object.entries(fine)) {
  test(`not on a node ${what}`, async (t) => {
    t.same(found(make()), []);
  });
}

test("nor of a pod that is dead", async (t) => {
  const machine = nodeWithPod();
  configure(machine, "00-cilium.conf", cilium);
  t.same(found(machine, {}), []);
});
