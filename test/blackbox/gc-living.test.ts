// test: each executable
/** GC keeps what its list cannot know, or is wrong about: addresses in use, and those reserved since it was made. */

import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable, run } from "../harness/executable.ts";
import { networkFor } from "../harness/executable-network.ts";
import {
  mountNamespace,
  processWith,
  skipOutsideHost,
  takeNamespace,
  withHighNumber,
} from "../harness/network-namespaces.ts";
import { configuration, runtimeEnvironment } from "../harness/runtime-call.ts";
import { nodeFor } from "../operator/node.ts";

test("GC keeps an address that a process has, and one that was reserved only just now", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { ranges: [[{ subnet: "10.7.14.0/24" }], [{ subnet: "fd74:14::/64" }]] });
  for (const id of ["alive", "dead", "new", "listed"]) node.call("ADD", "net", id);
  const processId = await processWith(t, "10.7.14.2/24", "fd74:14::2/64");
  const old = Date.now() / 1000 - 60;
  for (const last of [2, 3, 5]) {
    for (const name of [`10.7.14.${last}`, `fd74:14::${last}`]) {
      utimesSync(join(node.dataDir, "net", name), old, old);
    }
  }
  const list = { "cni.dev/valid-attachments": [{ containerID: "listed", ifname: "eth0" }] };
  const ipam = { ranges: [[{ subnet: "10.7.14.0/24" }]] };
  const document = configuration(node.dataDir, ipam, { ...list, cniVersion: "1.1.0" });

  const outcome = run(executable, {
    environment: { ...runtimeEnvironment, CNI_COMMAND: "GC", CNI_PATH: "/opt/cni/bin" },
    stdin: JSON.stringify(document),
  });

  t.same(outcome, {
    exitCode: 0,
    stdout: "",
    stderr: `host-local: GC kept 4 of 6 reservations that the list lacks in network net: 10.7.14.2 is in use by process ${processId}; 10.7.14.4 was reserved only just now; fd74:14::2 is in use by process ${processId}; fd74:14::4 was reserved only just now\n`,
  });
  const left = [2, 3, 4, 5].filter((last) => existsSync(join(node.dataDir, `net/10.7.14.${last}`)));
  t.same(left, [2, 4, 5]);
});

test("GC keeps an address that the node itself has", { skip: skipOutsideHost }, async (t) => {
  const node = nodeFor(t);
  node.network("net", { ranges: [[{ subnet: "127.0.0.0/24" }]] });
  const old = Date.now() / 1000 - 60;
  for (const name of ["127.0.0.1", "127.0.0.9"]) {
    node.write(`net/${name}`, "dead\r\neth0");
    utimesSync(join(node.dataDir, "net", name), old, old);
  }
  const ipam = { ranges: [[{ subnet: "127.0.0.0/24" }]] };
  const list = { "cni.dev/valid-attachments": [], cniVersion: "1.1.0" };

  const { exitCode, stderr } = run(executable, {
    environment: { ...runtimeEnvironment, CNI_COMMAND: "GC", CNI_PATH: "/opt/cni/bin" },
    stdin: JSON.stringify(configuration(node.dataDir, ipam, list)),
  });

  t.equal(exitCode, 0);
  t.equal(
    stderr,
    "host-local: GC kept 1 of 2 reservations that the list lacks in network net: 127.0.0.1 is in use by the node itself\n",
  );
});

test("GC keeps a pod without a process, whatever the list, until its network namespace is gone", {
  skip: skipOutsideHost,
}, async (t) => {
  const directory = scratchDirectory(t);
  const network = networkFor(t, { subnet: "10.7.15.0/24" });
  const process = await processWith(t);
  const namespaces: Readonly<Record<string, string>> = {
    crio: join(directory, "crio"),
    lost: join(directory, "lost"),
    // A virtual machine: the kernel of the host never has the address.
    tap: `/proc/${process}/ns/net`,
  };
  for (const [id, netns] of Object.entries(namespaces)) {
    if (id !== "tap") withHighNumber(() => mountNamespace(t, netns));
    const cniArgs = `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}`;
    t.equal(network.add(id, { netns, cniArgs }).exitCode, 0);
  }
  network.add("last", { netns: "/dev/null" });
  const waitUntilGone = takeNamespace(namespaces.lost ?? "");

  t.match(network.gcNow(["last eth0"]).stderr, "10.7.15.3 was reserved only just now");
  await sleep(2100);
  waitUntilGone();
  const { stderr } = network.gcNow(["last eth0"]);

  t.same(network.reserved(), ["10.7.15.2", "10.7.15.4", "10.7.15.5"]);
  t.match(stderr, `10.7.15.2: its network namespace ${namespaces.crio} exists`);
  t.match(stderr, `10.7.15.4: its network namespace ${namespaces.tap} exists`);
  takeNamespace(namespaces.crio ?? "");
  const top = { "cni.dev/valid-attachments": null };
  t.equal(
    network.call("GC", "", { top }).stderr,
    "host-local: GC without cni.dev/valid-attachments; released 1 reservation of dead pods alone\n",
  );
  t.same(network.reserved(), ["10.7.15.4", "10.7.15.5"]);
});

test("GC of what another program reserved keeps an address that a mounted network namespace has", {
  skip: skipOutsideHost,
}, async (t) => {
  const directory = scratchDirectory(t);
  const network = networkFor(t, { subnet: "10.7.16.0/24" });
  for (const last of [2, 3]) network.put(`10.7.16.${last}`, `go${last}\r\neth0`);
  mountNamespace(t, join(directory, "pod"), "10.7.16.2/24");

  const { stderr } = network.gc([]);

  t.same(network.reserved(), ["10.7.16.2"]);
  t.match(stderr, `10.7.16.2 is in use in the network namespace ${directory}/pod`);
});
