/** Which directories of configurations a command reads. */

import { test } from "tap";
import { configurationDirectories } from "../../../src/operator/configured/configuration-directories.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const K3S = "/var/lib/rancher/k3s/agent/etc/cni/net.d";
const MICROK8S = "/var/snap/microk8s/current/args/cni-network";

interface Node {
  readonly directories: readonly string[];
  readonly links?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly confDir?: string;
}

function found({ directories, links = {}, environment = {}, confDir }: Node): readonly string[] {
  const machine = new MemoryMachine();
  for (const directory of directories) machine.disk.makeDirectories(directory);
  for (const [path, target] of Object.entries(links)) machine.disk.putLink(path, target);
  const system = machine.start({ environment });
  return configurationDirectories({ system, option: () => confDir });
}

test("those of distributions that exist are read, the usual one first", async (t) => {
  t.strictSame(found({ directories: [MICROK8S, K3S, "/etc/cni/net.d"] }), [
    "/etc/cni/net.d",
    K3S,
    MICROK8S,
  ]);
  t.strictSame(found({ directories: [K3S] }), [K3S]);
  t.strictSame(found({ directories: [] }), []);
});

test("one with two names, as on k3s, is read once", async (t) => {
  const directories = [K3S, "/etc/cni"];
  t.strictSame(found({ directories, links: { "/etc/cni/net.d": K3S } }), ["/etc/cni/net.d"]);
});

test("$NETCONFPATH and --conf-dir replace them", async (t) => {
  const node = {
    directories: ["/etc/cni/net.d", "/srv/a", "/srv/b"],
    environment: { NETCONFPATH: "/srv/a/" },
  };
  t.strictSame(found(node), ["/srv/a"]);
  t.strictSame(found({ ...node, confDir: "/srv/./b" }), ["/srv/b"]);
});
