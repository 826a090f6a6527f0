/** Which directories of configurations a command reads. */

import { test } from "tap";
import { findPlaces } from "../../../src/operator/configured/configuration-directories.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const K3S = "/var/lib/rancher/k3s/agent/etc/cni/net.d";

test("one with two names, as on k3s, is read once", async (t) => {
  const machine = new MemoryMachine();
  for (const directory of [K3S, "/etc/cni"]) machine.disk.makeDirectories(directory);
  machine.disk.putLink("/etc/cni/net.d", K3S);
  const { directories } = findPlaces({ system: machine.start(), option: () => undefined });
  t.strictSame(directories, ["/etc/cni/net.d"]);
});

test("$NETCONFPATH and --conf-dir replace them", async (t) => {
  const machine = new MemoryMachine();
  for (const directory of ["/etc/cni/net.d", "/srv/a", "/srv/b"]) {
    machine.disk.makeDirectories(directory);
  }
  const system = machine.start({ environment: { NETCONFPATH: "/srv/a/" } });
  t.strictSame(findPlaces({ system, option: () => undefined }).directories, ["/srv/a"]);
  t.strictSame(findPlaces({ system, option: () => "/srv/./b" }).directories, ["/srv/b"]);
});

test("a runtime that reads none that exists: 0 unheeded", async (t) => {
  const machine = new MemoryMachine();
  for (const directory of ["/srv/a", "/srv/b"]) machine.disk.makeDirectories(directory);
  const containerd = [
    "version = 2",
    '[plugins."io.containerd.grpc.v1.cri".cni]',
    'conf_dir = "/nowhere"',
  ];
  machine.disk.put("/etc/containerd/config.toml", containerd.join("\n"));
  const { unheeded } = findPlaces({ system: machine.start(), option: () => "/srv/b" });
  t.strictSame(unheeded, []);
});
