/** In which order commands read the node: what is added meanwhile is known, and what ends meanwhile is not taken for alive. */

import { test } from "tap";
import { check } from "../../../src/operator/check/check.ts";
import { gc } from "../../../src/operator/gc/gc.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import { list } from "../../../src/operator/reservations/list.ts";
import { release } from "../../../src/operator/reservations/release.ts";
import { show } from "../../../src/operator/reservations/show.ts";
import type { Interrupt } from "../../harness/interruption.ts";
import { configureNet, memoryNode, remember, runOn } from "../memory-node.ts";

const steps = ["names", "reservations", "journal", "processes", "entries"] as const;

/** What a system call reads of these. */
const stepOf: (call: Parameters<Interrupt>[0]) => (typeof steps)[number] | undefined = ({
  operation,
  path = "",
}) => {
  if (operation === "list" && path === "/cache/results") return "names";
  if (operation.startsWith("readFiles") && path === "/data/net") return "reservations";
  if (path === "/data/.host-local/net/journal") return "journal";
  if (operation === "list" && path === "/proc") return "processes";
  return operation === "readFile" && path.startsWith("/cache/results/") ? "entries" : undefined;
};

for (const [command, ...operands] of [
  [check],
  [metrics],
  [gc],
  [list],
  [show, "c1"],
  [show, "web"],
  [release, "c1"],
] as const) {
  test(`${[command.name, ...operands].join(" ")} reads ${steps.join(", ")}, each once`, async (t) => {
    const machine = memoryNode({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" });
    configureNet(machine, "10.0.0.0/28");
    for (const id of ["c1", "c2"]) remember(machine, id);
    machine.wait(3_600_000);
    const order: string[] = [];
    const interrupt: Interrupt = (call) => {
      const step = stepOf(call);
      if (step !== undefined && step !== order.at(-1)) order.push(step);
      return undefined;
    };
    t.ok(runOn(machine, command, { operands, interrupt }).text());
    t.same(order, steps);
  });
}
