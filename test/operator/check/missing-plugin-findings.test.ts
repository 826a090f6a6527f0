/** Whether the plugin of a network is where its runtime looks for it: without it no pod starts, and nothing else says so. */

import { test } from "tap";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { findingsOn, memoryNode, runOn } from "../memory-node.ts";

const options = { "--conf-dir": "/etc/cni/net.d" };
const PLUGIN = "the plugin host-local";

function nodeWith(plugins: Readonly<Record<string, number>>, text = PLUGIN): MemoryMachine {
  const machine = memoryNode({});
  const ipam = { type: "host-local", subnet: "10.1.2.0/24" };
  const document = { cniVersion: "1.0.0", name: "net", type: "ptp", ipam };
  machine.disk.put("/etc/cni/net.d/net.conf", JSON.stringify(document));
  machine.disk.makeDirectories("/opt/cni/bin");
  for (const [path, mode] of Object.entries(plugins)) machine.disk.put(path, text, mode);
  return machine;
}

function found(machine: MemoryMachine): readonly string[] {
  return findingsOn(machine, { options }).map(({ severity, code, path, message, commands }) =>
    [`${severity} ${code} ${path}: ${message}`, ...commands].join("; "),
  );
}

const about = "error plugin-missing /opt/cni/bin/host-local:";
const OPT = "/opt/cni/bin";
const DEBIAN = "/usr/lib/cni";

/** Configures a further network. */
function add(machine: MemoryMachine, name: string): void {
  const ipam = { type: "host-local", subnet: "10.1.3.0/24" };
  const document = { cniVersion: "1.0.0", name, type: "ptp", ipam };
  machine.disk.put(`/etc/cni/net.d/${name}.conf`, JSON.stringify(document));
}

function foundMissing(machine: MemoryMachine): readonly string[] {
  return found(machine).filter((one) => one.includes("plugin-missing"));
}

test("a plugin that is missing in two directories, and for several networks, is one finding", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755, [`${DEBIAN}/ptp`]: 0o755 });
  const said = `${about} there is no plugin; the same at ${DEBIAN}/host-local; also needed by`;
  add(machine, "other");
  t.same(foundMissing(machine), [`${said} other`]);
  for (const name of ["p", "q", "r"]) add(machine, name);
  t.same(foundMissing(machine), [`${said} other, p, q and 1 more`]);
});

test("what is in place of a plugin in one directory is said once, and not that others lack it", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755, [`${DEBIAN}/ptp`]: 0o755 });
  machine.disk.put(`${OPT}/host-local`, "", 0o755);
  const said = `${about} an empty file is in place of the plugin`;
  t.same(found(machine), [said]);
  machine.disk.put(`${DEBIAN}/host-local`, "", 0o755);
  t.same(found(machine), [`${said}; the same at ${DEBIAN}/host-local`]);
});

test("each file that nobody may start has its command", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755, [`${OPT}/host-local`]: 0o644 });
  machine.disk.put(`${DEBIAN}/host-local`, PLUGIN, 0o644);
  const said = "the plugin has mode 0644, so no runtime can start it; chmod 755";
  t.same(found(machine), [
    `${about} ${said} ${OPT}/host-local`,
    `error plugin-missing ${DEBIAN}/host-local: ${said} ${DEBIAN}/host-local`,
  ]);
});

test("a directory with the main plugin alone is named beside a file that nobody may start", async (t) => {
  const machine = nodeWith({ [`${OPT}/host-local`]: 0o644, [`${DEBIAN}/ptp`]: 0o755 });
  machine.disk.put("/usr/libexec/cni/host-local", PLUGIN, 0o755);
  t.match(found(machine), [
    "mode 0644",
    `error plugin-missing ${DEBIAN}/host-local: there is no plugin, but ptp is here`,
  ]);
});

for (const [what, plugins, text, expected] of [
  ["sound", { [`${OPT}/host-local`]: 0o755, [`${OPT}/ptp`]: 0o755 }, PLUGIN, []],
  ["missing", { [`${OPT}/ptp`]: 0o755 }, PLUGIN, [`${about} there is no plugin`]],
  [
    "of mode 0644",
    { [`${OPT}/host-local`]: 0o644, [`${OPT}/ptp`]: 0o755 },
    PLUGIN,
    [
      `${about} the plugin has mode 0644, so no runtime can start it; chmod 755 /opt/cni/bin/host-local`,
    ],
  ],
  [
    "another program",
    { [`${OPT}/host-local`]: 0o644, [`${OPT}/ptp`]: 0o755 },
    "#!/bin/sh\nexit 0\n",
    [`${about} another program is in place of the plugin: no word in it names host-local`],
  ],
  [
    "in another directory, as the main plugin",
    { [`${DEBIAN}/host-local`]: 0o755, [`${DEBIAN}/ptp`]: 0o755 },
    PLUGIN,
    [],
  ],
  [
    "not beside the main plugin",
    { [`${DEBIAN}/host-local`]: 0o755, [`${OPT}/ptp`]: 0o755 },
    PLUGIN,
    [
      `${about} there is no plugin, but ptp is here, and /usr/lib/cni, which has the plugin, has no ptp: a runtime that looks here alone starts no pod of this network`,
    ],
  ],
  [
    "beside one of two main plugins",
    { [`${DEBIAN}/host-local`]: 0o755, [`${DEBIAN}/ptp`]: 0o755, [`${OPT}/ptp`]: 0o755 },
    PLUGIN,
    [
      "info plugin-missing /opt/cni/bin/host-local: there is no plugin, but ptp is here; /usr/lib/cni has both, and which of these directories the runtime uses is not known",
    ],
  ],
  [
    "there without the main plugin",
    { [`${OPT}/host-local`]: 0o755 },
    PLUGIN,
    ["error plugin-missing /opt/cni/bin/ptp: there is no plugin"],
  ],
] as const) {
  test(`a plugin that is ${what}: ${expected.join().split(" ")[0] || "nothing"}`, async (t) => {
    const machine = nodeWith(plugins, text);
    t.same(found(machine), expected);
    const errors = expected.filter((one) => one.startsWith("error")).length;
    const line = `cni_ipam_check_findings{network="net",severity="error"} ${errors}`;
    t.match(runOn(machine, metrics, { options }).text(), line);
  });
}

test("each plugin of a list is looked for, in all directories", async (t) => {
  const machine = nodeWith({ [`${OPT}/host-local`]: 0o755, [`${OPT}/bridge`]: 0o755 });
  const bridge = { type: "bridge", ipam: { type: "host-local", subnet: "10.1.2.0/24" } };
  const types = ["portmap", "tuning", "buildkit-cni-firewall", "../up"];
  const plugins = [bridge, ...types.map((type) => ({ type }))];
  const document = { cniVersion: "1.0.0", name: "net", plugins };
  machine.disk.removeAll("/etc/cni/net.d/net.conf");
  machine.disk.put("/etc/cni/net.d/net.conflist", JSON.stringify(document));
  machine.disk.put("/usr/lib/cni/tuning", "tuning", 0o755);
  machine.disk.put(`${OPT}/portmap`, "", 0o644);
  t.same(found(machine), [
    "error plugin-missing /opt/cni/bin/portmap: an empty file is in place of the plugin",
  ]);
});

test("a link to nothing is no plugin, which of a container cannot be told", async (t) => {
  const machine = nodeWith({ [`${OPT}/ptp`]: 0o755 });
  machine.disk.putLink(`${OPT}/host-local`, "/snap/cni/host-local");
  const message =
    "plugin-missing /opt/cni/bin/host-local: a link to /snap/cni/host-local, where nothing is, is in place of the plugin";
  t.same(found(machine), [`error ${message}`]);
  machine.kernel.seesFirstProcess = false;
  t.same(found(machine), [
    `info ${message}; whether something is there on the node cannot be told`,
  ]);
});

test("where no plugin directory is seen, nothing is known", async (t) => {
  const machine = nodeWith({});
  machine.disk.removeAll("/opt");
  t.same(found(machine), []);
});
