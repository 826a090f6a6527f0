/** Whether the plugins of a network are where its runtime looks for them: without one no pod starts, and nothing else says so. */

import { test } from "tap";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { findingsOn, memoryNode, runOn } from "../memory-node.ts";

const options = { "--conf-dir": "/etc/cni/net.d" };
const OPT = "/opt/cni/bin";
const DEBIAN = "/usr/lib/cni";

/** A network of `ptp` in `/etc/cni/net.d`, and these plugins with their modes. */
function nodeWith(plugins: Readonly<Record<string, number>>): MemoryMachine {
  const machine = memoryNode({});
  add(machine, "net");
  machine.disk.makeDirectories(OPT);
  for (const [path, mode] of Object.entries(plugins)) {
    machine.disk.put(path, "#!/bin/sh\n", mode);
  }
  return machine;
}

/** Configures a network. */
function add(machine: MemoryMachine, name: string, directory = "/etc/cni/net.d"): void {
  const ipam = { type: "host-local", subnet: "10.1.2.0/24" };
  const document = { cniVersion: "1.0.0", name, type: "ptp", ipam };
  machine.disk.put(`${directory}/${name}.conf`, JSON.stringify(document));
}

function found(machine: MemoryMachine, places: typeof options = options): readonly string[] {
  return findingsOn(machine, { options: places })
    .filter(({ code }) => code === "plugin-missing")
    .map(({ severity, path, message, commands }) =>
      [`${severity} ${path}: ${message}`, ...commands].join("; "),
    );
}

/** What a runtime says of its directories. */
function saying(line: string): string {
  return ["version = 2", '[plugins."io.containerd.grpc.v1.cri".cni]', line].join("\n");
}

test("a plugin that is in another directory than that of the runtime: 2 findings", async (t) => {
  const machine = nodeWith({ [`${OPT}/host-local`]: 0o755, [`${OPT}/ptp`]: 0o755 });
  machine.disk.put("/etc/containerd/config.toml", saying('bin_dir = "/srv/bin"'));
  t.same(found(machine), [
    "error /srv/bin/host-local: there is no plugin, and containerd looks in /srv/bin alone",
    "error /srv/bin/ptp: there is no plugin, and containerd looks in /srv/bin alone",
  ]);
});

test("where a runtime says what it reads, not where it looks: a plugin is missing", async (t) => {
  const machine = nodeWith({ [`${DEBIAN}/ptp`]: 0o755 });
  add(machine, "net", "/srv/net.d");
  machine.disk.put("/etc/containerd/config.toml", saying('conf_dir = "/srv/net.d"'));
  const own = { "--conf-dir": "/srv/net.d" };
  t.same(found(machine, own), [`error ${DEBIAN}/host-local: there is no plugin`]);
  add(machine, "net", "/conf");
  t.same(found(machine, { "--conf-dir": "/conf" }), [], "nothing is known of others");
});

test("of the directories of a runtime the first with the plugin counts, be it broken", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755, [`${OPT}/host-local`]: 0o755 });
  machine.disk.put("/srv/bin/host-local", "", 0o755);
  machine.disk.put("/etc/containerd/config.toml", saying(`bin_dirs = ["/srv/bin", "${OPT}"]`));
  t.same(found(machine), [
    "error /srv/bin/host-local: the plugin cannot be started: exec format error",
  ]);
});

test("of two runtimes that read a directory either may start the plugin", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755, [`${OPT}/host-local`]: 0o755 });
  machine.disk.put("/etc/containerd/config.toml", saying('bin_dir = "/srv/bin"'));
  machine.disk.put("/etc/crio/crio.conf", `[crio.network]\nplugin_dirs = ["${OPT}"]`);
  t.same(found(machine), []);
});

test("so do podman and nerdctl for their own networks, also for the first", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755, [`${OPT}/host-local`]: 0o755 });
  machine.disk.removeAll("/etc/cni/net.d/net.conf");
  add(machine, "87-podman");
  machine.disk.makeDirectories("/srv/bin");
  machine.disk.put("/etc/containerd/config.toml", saying('bin_dir = "/srv/bin"'));
  t.same(found(machine), []);
});

test("in a container without the directories of the node the known ones count", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755, [`${OPT}/host-local`]: 0o755 });
  machine.disk.put("/etc/containerd/config.toml", saying('bin_dir = "/srv/bin"'));
  machine.kernel.seesFirstProcess = false;
  t.same(found(machine), []);
});

test("a plugin that several networks need is missing once", async (t) => {
  const machine = nodeWith({ [`${DEBIAN}/ptp`]: 0o755 });
  const said = `error ${DEBIAN}/host-local: there is no plugin; also needed by`;
  add(machine, "other");
  t.same(found(machine), [`${said} other`]);
  for (let at = 0; at < 11; at++) add(machine, `p${at}`);
  t.match(found(machine), [/ other, p0, p1, .* and 2 more$/]);
});

test("a plugin that is of mode 0644 beside one that is sound: warning", async (t) => {
  const machine = nodeWith({
    [`${OPT}/host-local`]: 0o644,
    [`${OPT}/ptp`]: 0o755,
    [`${DEBIAN}/host-local`]: 0o755,
  });
  t.same(found(machine), [
    `warning ${OPT}/host-local: the plugin has mode 0644, so no runtime can start it; ${DEBIAN}/host-local is one, and which of them the runtime starts is not known; chmod 755 /opt/cni/bin/host-local`,
  ]);
  t.notMatch(
    runOn(machine, metrics, { options }).text(),
    'cni_ipam_check_findings{network="net",severity="error",code="plugin-missing"}',
  );
});

test("each plugin of a list is looked for, in all directories", async (t) => {
  const machine = nodeWith({ [`${OPT}/host-local`]: 0o755, [`${OPT}/bridge`]: 0o755 });
  const bridge = { type: "bridge", ipam: { type: "host-local", subnet: "10.1.2.0/24" } };
  const types = ["portmap", "tuning", "buildkit-cni-firewall", "../up"];
  const plugins = [bridge, ...types.map((type) => ({ type }))];
  const document = { cniVersion: "1.0.0", name: "net", plugins };
  machine.disk.removeAll("/etc/cni/net.d/net.conf");
  machine.disk.put("/etc/cni/net.d/net.conflist", JSON.stringify(document));
  machine.disk.put("/usr/lib/cni/tuning", "#!/bin/sh\n", 0o755);
  machine.disk.put(`${OPT}/portmap`, "", 0o755);
  t.same(found(machine), [`error ${OPT}/portmap: the plugin cannot be started: exec format error`]);
});

test("a link to nothing is no plugin, which of a container cannot be told", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755 });
  machine.disk.putLink(`${OPT}/host-local`, "/snap/cni/host-local");
  t.same(found(machine), [
    `error ${OPT}/host-local: a link to /snap/cni/host-local, where nothing is, is in place of the plugin`,
  ]);
  machine.kernel.seesFirstProcess = false;
  t.same(found(machine), []);
});
