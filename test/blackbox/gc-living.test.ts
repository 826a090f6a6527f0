// test: each executable
/** GC keeps what its list cannot know, or is wrong about: addresses in use, and those reserved since it was made. */

import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { executable, run } from "../harness/executable.ts";
import { processWith, skipWithoutNamespaces } from "../harness/network-namespaces.ts";
import { configuration, runtimeEnvironment } from "../harness/runtime-call.ts";
import { nodeFor } from "../operator/node.ts";

test("GC keeps an address that a process has, and one that was reserved after the call had begun", {
  skip: skipWithoutNamespaces,
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { ranges: [[{ subnet: "10.7.14.0/24" }], [{ subnet: "fd74:14::/64" }]] });
  for (const id of ["alive", "dead", "new", "listed"]) node.call("ADD", "net", id);
  const processId = await processWith(t, "10.7.14.2/24", "fd74:14::2/64");
  const later = Date.now() / 1000 + 60;
  for (const name of ["10.7.14.4", "fd74:14::4"]) {
    utimesSync(join(node.dataDir, "net", name), later, later);
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
    stderr: `host-local: GC kept 4 of 6 reservations that the list lacks in network net: 10.7.14.2 is in use by process ${processId}; 10.7.14.4 was reserved after the call had begun; fd74:14::2 is in use by process ${processId}; fd74:14::4 was reserved after the call had begun\n`,
  });
  const left = [2, 3, 4, 5].filter((last) => existsSync(join(node.dataDir, `net/10.7.14.${last}`)));
  t.same(left, [2, 4, 5]);
});

test("GC keeps an address that the node itself has", async (t) => {
  const node = nodeFor(t);
  node.network("net", { ranges: [[{ subnet: "127.0.0.0/24" }]] });
  for (const name of ["127.0.0.1", "127.0.0.9"]) node.write(`net/${name}`, "dead\r\neth0");
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
