/** Which directories of configurations a command reads. */

import { test } from "tap";
import {
  findPlaces,
  type Requested,
} from "../../../src/operator/configured/configuration-directories.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const K3S = "/var/lib/rancher/k3s/agent/etc/cni/net.d";
const MICROK8S = "/var/snap/microk8s/current/args/cni-network";

interface Node {
  readonly directories: readonly string[];
  readonly links?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly confDir?: string;
  /** The directory that containerd reads. */
  readonly read?: string;
}

function contextOf(node: Node): Requested {
  const { directories, links = {}, environment = {}, confDir, read } = node;
  const machine = new MemoryMachine();
  for (const directory of directories) machine.disk.makeDirectories(directory);
  for (const [path, target] of Object.entries(links)) machine.disk.putLink(path, target);
  const said = ["version = 2", '[plugins."io.containerd.grpc.v1.cri".cni]', `conf_dir = "${read}"`];
  if (read !== undefined) machine.disk.put("/etc/containerd/config.toml", said.join("\n"));
  return { system: machine.start({ environment }), option: () => confDir };
}

function found(node: Node): readonly string[] {
  return findPlaces(contextOf(node)).directories;
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

test("the one that a runtime reads comes before the known ones", async (t) => {
  const directories = ["/etc/cni/net.d", "/srv/net.d"];
  t.strictSame(found({ directories, read: "/srv/net.d" }), ["/srv/net.d", "/etc/cni/net.d"]);
  t.strictSame(found({ directories, read: "/etc/cni/net.d" }), ["/etc/cni/net.d"]);
  t.strictSame(found({ directories, read: "/nowhere" }), ["/etc/cni/net.d"]);
});

for (const [what, node, expected] of [
  ["the one that is asked for", { read: "/srv/a", confDir: "/srv/a" }, []],
  ["another one", { read: "/srv/a", confDir: "/srv/b" }, ["/srv/a"]],
  ["one of its other name", { read: "/srv/link", confDir: "/srv/a" }, []],
  ["none that exists", { read: "/nowhere", confDir: "/srv/b" }, []],
  ["any, where none is asked for", { read: "/srv/a" }, []],
] as const) {
  test(`a runtime that reads ${what}: ${expected.length} unheeded`, async (t) => {
    const context = contextOf({
      directories: ["/srv/a", "/srv/b"],
      links: { "/srv/link": "/srv/a" },
      ...node,
    });
    t.strictSame(
      findPlaces(context).unheeded.map(({ configurations }) => configurations),
      expected,
    );
  });
}
