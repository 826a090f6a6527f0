// test: each executable, sees the node, makes namespaces
/** GC keeps addresses that its list cannot know, or is wrong about: those in use, and those reserved since it was made. */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { networkFor } from "../harness/executable-network.ts";
import { lacking } from "../harness/needs.ts";
import {
  mountNamespace,
  processWith,
  takeNamespace,
  withHighNumber,
} from "../harness/network-namespaces.ts";
import { ownNetwork } from "../harness/own-network.ts";

const skip = lacking("sees the node", "makes namespaces");

test("GC keeps what a process, the node or a mounted namespace has, or was reserved just now", {
  skip,
}, async (t) => {
  const { ipv4, ipv6 } = await ownNetwork(t);
  const network = networkFor(t, { subnet: `${ipv4}.0/24` });
  const process = await processWith(t, `${ipv4}.2/24`, `${ipv6}::2/64`);
  const mounted = join(scratchDirectory(t), "pod");
  mountNamespace(t, mounted, `${ipv4}.3/24`);
  const inUse = ["127.0.0.1", `${ipv4}.2`, `${ipv4}.3`, `${ipv6}::2`];
  for (const address of [...inUse, `${ipv4}.4`, "127.0.0.9", `${ipv6}::4`]) {
    network.put(address, `of-${address.slice(-1)}\r\neth0`);
  }
  network.add("listed");
  network.age();
  network.add("young");

  const { exitCode, stderr } = network.gcNow(["listed eth0"]);

  t.equal(exitCode, 0);
  t.same(network.reserved(), [...inUse, `${ipv4}.5`, `${ipv4}.6`].toSorted());
  const reasons = [
    "127.0.0.1 is in use by the node itself",
    `${ipv4}.2 is in use by process ${process}`,
    `${ipv4}.3 is in use in the network namespace ${mounted}`,
    `${ipv4}.6 was reserved only just now`,
    `${ipv6}::2 is in use by process ${process}`,
  ];
  t.equal(
    stderr,
    `host-local: GC kept 5 of 8 reservations that the list lacks in network net: ${reasons.join("; ")}\n`,
  );
});

test("GC keeps a pod without a process, whatever the list, until its network namespace is gone", {
  skip,
}, async (t) => {
  const directory = scratchDirectory(t);
  const network = networkFor(t, { subnet: "198.51.100.0/24" });
  const [living, lost] = [join(directory, "living"), join(directory, "lost")];
  // The pod is a virtual machine: the kernel of the host never has its address.
  const tap = `/proc/${await processWith(t)}/ns/net`;
  for (const [id, netns] of Object.entries({ living, lost, tap })) {
    if (netns !== tap) withHighNumber(() => mountNamespace(t, netns));
    network.add(id, { netns, cniArgs: `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}` });
  }
  t.same(network.reserved(), ["198.51.100.2", "198.51.100.3", "198.51.100.4"]);
  const waitUntilGone = takeNamespace(lost);
  // GC keeps what is young.
  await sleep(2100);
  waitUntilGone();

  const { stderr } = network.gcNow([]);

  t.same(network.reserved(), ["198.51.100.2", "198.51.100.4"]);
  t.match(stderr, `198.51.100.2: its network namespace ${living} exists`);
  t.match(stderr, `198.51.100.4: its network namespace ${tap} exists`);
  takeNamespace(living);
  t.equal(
    network.call("GC", "", { top: { "cni.dev/valid-attachments": null } }).stderr,
    "host-local: GC without cni.dev/valid-attachments; released 1 reservation of dead pods alone\n",
  );
  t.same(network.reserved(), ["198.51.100.4"]);
});
