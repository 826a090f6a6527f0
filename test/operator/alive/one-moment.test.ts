/** A command looks at the processes and mounts of the node once: all networks are judged by the same moment. */

import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import { release } from "../../../src/operator/reservations/release.ts";
import type { Interrupt } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { attachmentCall } from "../../harness/runtime-call.ts";
import { configure, type MemoryRun, memoryNode, runOn } from "../memory-node.ts";

/** A node whose pod `c1` is dead, and had an address of each of these networks since an hour; its kernel gives no handles. */
function nodeWith(networks: readonly string[]): MemoryMachine {
  const machine = memoryNode({});
  for (const [at, name] of networks.entries()) {
    const ipam = { type: "host-local", subnet: `10.0.${at}.0/24`, dataDir: "/data" };
    const document = { cniVersion: "1.0.0", name, type: "bridge", ipam };
    configure(machine, `${name}.conf`, document);
    const netns = `/run/netns/${name}`;
    machine.kernel.mount(netns);
    const cniArgs = "IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=c1";
    machine.runPlugin(attachmentCall("ADD", { containerId: "c1", netns, cniArgs }, document));
  }
  machine.kernel.mounts.clear();
  machine.wait(3_600_000);
  return machine;
}

const runs: readonly (readonly [typeof gc, MemoryRun])[] = [
  [release, { operands: ["c1"], options: { "--yes": "" } }],
  [metrics, {}],
  [gc, {}],
];

for (const [command, run] of runs) {
  const words = [command.name, ...(run.operands ?? []), ...Object.keys(run.options ?? {})];
  test(`${words.join(" ")} looks at two networks as often as at one`, async (t) => {
    const looksAt = (...networks: readonly string[]): number => {
      let looks = 0;
      const interrupt: Interrupt = ({ operation, path }) => {
        if (operation === "list" && path === "/proc") looks++;
        return undefined;
      };
      const report = runOn(nodeWith(networks), command, { ...run, interrupt });
      t.match(report.text(), networks.at(-1));
      return looks;
    };
    const once = looksAt("net");
    t.not(once, 0);
    t.equal(looksAt("net", "other"), once);
  });
}
