/** plugin-directories.ts: where CNI plugins are on this node. */

import { test } from "tap";
import {
  existingPluginDirectories,
  markedNames,
} from "../../../src/operator/configured/plugin-directories.ts";
import type { System } from "../../../src/system/system.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

function nodeWith(...files: readonly string[]): System {
  const machine = new MemoryMachine();
  for (const file of files) machine.disk.put(file, "#!/bin/sh\n", 0o755);
  return machine.start();
}

const paths = (found: readonly { directory: string }[]): string[] =>
  found.map(({ directory }) => directory);

test("several are found in one order", async (t) => {
  const system = nodeWith("/usr/lib/cni/host-local", "/opt/cni/bin/host-local", "/run/cni/bin/x");
  t.strictSame(paths(existingPluginDirectories(system)), [
    "/opt/cni/bin",
    "/usr/lib/cni",
    "/run/cni/bin",
  ]);
});

test("k3s: its old directory does not count beside the new one", async (t) => {
  const [before, now] = ["/var/lib/rancher/k3s/data/current/bin", "/var/lib/rancher/k3s/data/cni"];
  const system = nodeWith(`${before}/host-local`, `${now}/host-local`);
  t.strictSame(paths(existingPluginDirectories(system)), [now]);
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

test("those that runtimes name come first, and no known one with its other name is lost", async (t) => {
  const machine = new MemoryMachine();
  for (const path of ["/srv/bin/bridge", "/opt/cni/bin/bridge", "/usr/lib/cni/bridge"]) {
    machine.disk.put(path, "#!/bin/sh\n");
  }
  const dirs = 'plugin_dirs = ["/srv/bin", "/usr/lib/cni/", "/nowhere"]';
  machine.disk.put("/etc/crio/crio.conf", `[crio.network]\nnetwork_dir = "/srv/net.d"\n${dirs}`);
  const found = existingPluginDirectories(machine.start());
  t.strictSame(paths(found), ["/srv/bin", "/usr/lib/cni", "/opt/cni/bin"]);
  t.match(found[0], { configurations: "/srv/net.d" });
});

for (const [what, text, expected] of [
  ["of this version", "x was installed in this directory; host-local check reports", ["x"]],
  ["of a later version", "x was installed in this directory; see its manual\nand so on\n", ["x"]],
  ["of another name", "y was installed in this directory; host-local check", []],
  ["of another program", "x was installed\n", []],
  ["empty", "", []],
] as const) {
  test(`a marker that is ${what}: ${expected.length}`, async (t) => {
    const machine = new MemoryMachine();
    machine.disk.put("/opt/cni/bin/x.installed", text);
    t.strictSame(markedNames(machine.start(), "/opt/cni/bin"), expected);
  });
}
