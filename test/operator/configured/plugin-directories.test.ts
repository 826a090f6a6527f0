/** plugin-directories.ts: where CNI plugins are on this node. */

import { test } from "tap";
import {
  existingPluginDirectories,
  markedNames,
} from "../../../src/operator/configured/plugin-directories.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const paths = (found: readonly { directory: string }[]): string[] =>
  found.map(({ directory }) => directory);

test("k3s: its old directory does not count beside the new one", async (t) => {
  const [before, now] = ["/var/lib/rancher/k3s/data/current/bin", "/var/lib/rancher/k3s/data/cni"];
  const machine = new MemoryMachine();
  for (const path of [before, now]) machine.disk.put(`${path}/host-local`, "#!/bin/sh\n", 0o755);
  t.strictSame(paths(existingPluginDirectories(machine.start())), [now]);
});

test("MicroK8s: a directory with two names is listed once, with the configurations of MicroK8s", async (t) => {
  const real = "/var/snap/microk8s/current/opt/cni/bin";
  const machine = new MemoryMachine();
  machine.disk.put(`${real}/host-local`, "#!/bin/sh\n");
  machine.disk.putLink("/opt/cni/bin", real);
  const found = existingPluginDirectories(machine.start());
  t.strictSame(paths(found), [real]);
  t.equal(found[0]?.configurations, "/var/snap/microk8s/current/args/cni-network");
});

for (const [what, text, expected] of [
  ["of a later version", "x was installed in this directory; see its manual\nand so on\n", ["x"]],
  ["of another name", "y was installed in this directory; host-local check", []],
] as const) {
  test(`a marker that is ${what}: ${expected.length}`, async (t) => {
    const machine = new MemoryMachine();
    machine.disk.put("/opt/cni/bin/x.installed", text);
    t.strictSame(markedNames(machine.start(), "/opt/cni/bin"), expected);
  });
}
