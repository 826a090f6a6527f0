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

for (const [what, plugins, text, expected] of [
  ["sound", { "/opt/cni/bin/host-local": 0o755 }, PLUGIN, []],
  ["missing", {}, PLUGIN, [`${about} there is no plugin`]],
  [
    "of mode 0644",
    { "/opt/cni/bin/host-local": 0o644 },
    PLUGIN,
    [
      `${about} the plugin has mode 0644, so no runtime can start it; chmod 755 /opt/cni/bin/host-local`,
    ],
  ],
  [
    "another program",
    { "/opt/cni/bin/host-local": 0o755 },
    "#!/bin/sh\nexit 0\n",
    [`${about} another program is in place of the plugin: no word in it names host-local`],
  ],
  [
    "in another directory, which the runtime may use",
    { "/usr/lib/cni/host-local": 0o755 },
    PLUGIN,
    [],
  ],
] as const) {
  test(`a plugin that is ${what}: ${expected.length === 0 ? "nothing" : "an error"}`, async (t) => {
    const machine = nodeWith(plugins, text);
    t.same(found(machine), expected);
    const line = `cni_ipam_check_findings{network="net",severity="error"} ${expected.length}`;
    t.match(runOn(machine, metrics, { options }).text(), line);
  });
}

test("where no plugin directory is seen, or a link leads out of a container, nothing is known", async (t) => {
  const machine = nodeWith({});
  machine.disk.putLink("/opt/cni/bin/host-local", "/snap/cni/host-local");
  t.same(found(machine), []);
  machine.disk.removeAll("/opt");
  t.same(found(machine), []);
});
