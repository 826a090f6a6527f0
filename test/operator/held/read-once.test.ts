/** No command opens a reservation twice, also after a reboot, before the first ADD has noted what is from before it. */

import { test } from "tap";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import { check } from "../../../src/operator/check/check.ts";
import { gc } from "../../../src/operator/gc/gc.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import { list } from "../../../src/operator/reservations/list.ts";
import { show } from "../../../src/operator/reservations/show.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { location, withNetwork } from "../../store/fixtures.ts";
import {
  configureNet,
  contextOf,
  memoryNode,
  places,
  remember,
  startOperator,
} from "../memory-node.ts";

const files = {
  "10.0.0.2": "c1\r\neth0",
  "10.0.0.3": "c2\r\neth0",
  "10.0.0.4": "c3",
  "10.0.0.5": "",
  // The next ADD begins after it: its dry run looks at what is free.
  "last_reserved_ip.0": "10.0.0.5",
};

/** A machine with a journal, and a configuration in which the network is nearly full. */
function nodeWith(): MemoryMachine {
  const machine = memoryNode(files);
  configureNet(machine, "10.0.0.0/29");
  remember(machine, "c1", { addresses: ["10.0.0.2/29"] });
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(3_600_000);
  return machine;
}

const moments: Readonly<Record<string, (machine: MemoryMachine) => void>> = {
  "in the same boot": () => {},
  "after a reboot": (machine) => machine.boot(),
};

const commands = [
  [list, []],
  [check, []],
  [metrics, []],
  [gc, []],
  [show, ["10.0.0.2"]],
  [show, ["c1"]],
  [capacity, []],
] as const;

for (const [when, pass] of Object.entries(moments)) {
  for (const [command, operands] of commands) {
    for (const form of ["text", "document"] as const) {
      test(`${[command.name, ...operands].join(" ")}, ${form}, ${when}: no reservation is opened twice`, async (t) => {
        const machine = nodeWith();
        pass(machine);
        const { system, counts } = startOperator(machine);

        const report = command.run(contextOf(system, places, operands));

        t.ok(report[form]());
        // Of the few that name nobody is asked whether ADD would remove them.
        const again = `${location.directory}/10.0.0.5`;
        const twice = [...counts].filter(
          ([path, count]) =>
            path.startsWith(`${location.directory}/1`) && path !== again && count > 1,
        );
        t.same(twice, []);
        t.ok(counts.has(`${location.directory}/10.0.0.2`));
      });
    }
  }
}
