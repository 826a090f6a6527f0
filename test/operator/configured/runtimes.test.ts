/** Which directories runtimes read, by their configurations. */

import { test } from "tap";
import { readRuntimes } from "../../../src/operator/configured/runtimes.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const CONTAINERD = "/etc/containerd/config.toml";
const CRIO = "/etc/crio/crio.conf";
const CRI = 'plugins."io.containerd.grpc.v1.cri".cni';
const RUNTIME = "plugins.'io.containerd.cri.v1.runtime'.cni";

type Files = Readonly<Record<string, string>>;

/** Each runtime as `name: configurations; plugins; network`, none where one cannot be asked. */
function read(files: Files, environment = {}): readonly string[] {
  const machine = new MemoryMachine();
  for (const [path, text] of Object.entries(files)) machine.disk.put(path, text);
  return readRuntimes(machine.start({ environment })).map(
    ({ name, configurations, plugins, network }) =>
      [`${name}: ${configurations}`, plugins?.join(" ") ?? "not said", network ?? []]
        .flat()
        .join("; "),
  );
}

/** A file of containerd. */
function toml(version: number, section: string, ...lines: readonly string[]): string {
  return [`version = ${version}`, `[${section}]`, ...lines].join("\n");
}

const UNSEEN: readonly string[] = [];
const said = ['bin_dir = "/a/bin/"', 'conf_dir = "/a/net.d"'];
const expected = ["containerd: /a/net.d; /a/bin"];
const notSaid = ["containerd: /etc/cni/net.d; not said"];

const cases: Readonly<Record<string, readonly [Files, readonly string[]]>> = {
  "no version": [{ [CONTAINERD]: `[plugins.cri.cni]\n${said.join("\n")}` }, expected],
  "version 2, with the name of version 1": [
    { [CONTAINERD]: toml(2, "plugins.cri.cni", ...said) },
    notSaid,
  ],
  "CRI disabled, as by Docker's package": [{ [CONTAINERD]: 'disabled_plugins = ["cri"]' }, []],
  "a number of 64 bits elsewhere": [
    { [CONTAINERD]: `oom_score = 9223372036854775807\n${toml(2, CRI, ...said)}` },
    expected,
  ],
  "an import takes the place of what it says": [
    {
      [CONTAINERD]: `imports = ["b.toml", "/etc/containerd/conf.d/*.toml"]\n${toml(3, RUNTIME, ...said)}`,
      "/etc/containerd/b.toml": toml(3, RUNTIME, 'bin_dir = "/b/bin"'),
      "/etc/containerd/conf.d/2.toml": toml(3, RUNTIME, 'bin_dir = "/d/bin"'),
      "/etc/containerd/conf.d/1.toml": toml(3, RUNTIME, 'bin_dir = "/c/bin"'),
      "/etc/containerd/conf.d/3.conf": "no TOML",
    },
    ["containerd: /a/net.d; /d/bin"],
  ],
  "an import that containerd 1 puts in place of the whole section": [
    {
      [CONTAINERD]: `imports = ["b.toml"]\n${toml(2, CRI, ...said)}`,
      "/etc/containerd/b.toml": `version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\n`,
    },
    UNSEEN,
  ],
  "imports of nothing": [{ [CONTAINERD]: 'imports = ["/nowhere/*.toml"]' }, notSaid],
  "a distribution's containerd": [
    {
      "/var/lib/rancher/k3s/agent/etc/containerd/config.toml": toml(3, RUNTIME, ...said),
      "/var/lib/rancher/rke2/agent/etc/containerd/config.toml": toml(2, CRI, ...said),
      "/var/snap/microk8s/current/args/containerd.toml": toml(2, CRI, ...said),
    },
    ["k3s: /a/net.d; /a/bin", "RKE2: /a/net.d; /a/bin", "MicroK8s: /a/net.d; /a/bin"],
  ],
  "CRI-O": [
    {
      [CRIO]: '[crio.network]\nnetwork_dir = "/a/net.d/"\nplugin_dirs = ["/a/bin", "/b/bin"]\n',
    },
    ["CRI-O: /a/net.d; /a/bin /b/bin"],
  ],
  "CRI-O's files below its directory, by name": [
    {
      [CRIO]: '[crio.network]\nnetwork_dir = "/a"\nplugin_dirs = ["/a/bin"]\nplugin_dir = "/z/bin"',
      [`${CRIO}.d/20-b`]: '[crio.network]\ncni_default_network = "pods"',
      [`${CRIO}.d/10-a/x.conf`]: '[crio.network]\nplugin_dirs = ["/b/bin"]',
      [`${CRIO}.d/30-c`]: '[crio.network]\nplugin_dirs = []\ncni_default_network = ""',
    },
    ["CRI-O: /a; /b/bin /z/bin; pods"],
  ],
  "a number in place of a text": [{ [CONTAINERD]: toml(2, CRI, "bin_dir = 1") }, UNSEEN],
  "a list of numbers": [{ [CRIO]: "[crio.network]\nplugin_dirs = [1]" }, UNSEEN],
  "a list of tables": [{ [CRIO]: "[[crio]]\na = 1" }, UNSEEN],
  "a text in place of the version": [{ [CONTAINERD]: 'version = "2"' }, UNSEEN],
  "a pattern in the directory of imports": [
    { [CONTAINERD]: 'imports = ["/etc/*/a.toml"]' },
    UNSEEN,
  ],
  "an import that is not there": [{ [CONTAINERD]: 'imports = ["b.toml"]' }, UNSEEN],
  "16 MiB": [{ [CONTAINERD]: "#".repeat(16 * 1024 * 1024) }, UNSEEN],
  "lists in lists": [{ [CONTAINERD]: `a = ${"[".repeat(100_000)}` }, UNSEEN],
  "a key of the engine's": [{ [CONTAINERD]: "__proto__.version = 3" }, notSaid],
  "keys in keys": [{ [CONTAINERD]: `${"a.".repeat(100_000)}b = 1` }, notSaid],
};

for (const [what, [files, found]] of Object.entries(cases)) {
  test(`${what}: ${found.join(", ").slice(0, 60) || "nothing"}`, async (t) => {
    t.same(read(files), found);
  });
}

test("where $NETCONFPATH says which directory is read, no runtime is asked", async (t) => {
  t.same(read({ [CONTAINERD]: "<html>" }, { NETCONFPATH: "/srv" }), []);
});
