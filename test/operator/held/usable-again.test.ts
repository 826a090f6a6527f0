/** What the commands show of reservations from before this boot, whose addresses ADD uses again. */

import { test } from "tap";
import type { Command } from "../../../src/cli/command/command.ts";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import { networks } from "../../../src/operator/networks/networks.ts";
import { list } from "../../../src/operator/reservations/list.ts";
import { withNetwork } from "../../store/fixtures.ts";
import { configureNet, contextOf, memoryNode, places, startOperator } from "../memory-node.ts";

/** What a command reports where three addresses of a /29 are reserved from before this boot, and one since. */
function reportOf(command: Command) {
  const machine = memoryNode({
    "10.0.0.2": "c1\r\neth0",
    "10.0.0.3": "c2\r\neth0",
    "10.0.0.4": "c3\r\neth0",
  });
  configureNet(machine, "10.0.0.0/29");
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(3_600_000);
  machine.boot();
  // The first call of a boot notes them.
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.disk.put("/data/net/10.0.0.5", "c4\r\neth0");
  // Else whoever has no namespace is known to be dead.
  machine.kernel.seesProcesses = false;
  return command.run(contextOf(startOperator(machine).system, places));
}

const reason = "it is from before this boot of the node";

test("list says that nobody alive holds them, and why", async (t) => {
  const [headings, ...rows] = reportOf(list)
    .text()
    .split("\n")
    .map((line) => line.split(/ +/));

  t.same(headings?.slice(5), ["ALIVE", "POD"]);
  t.same(
    rows.slice(0, 4).map((cells) => [cells[1], ...cells.slice(5)].join(" ")),
    ["10.0.0.2 no -", "10.0.0.3 no -", "10.0.0.4 no -", "10.0.0.5 - -"],
  );
  t.match(reportOf(list).document(), {
    reservations: [{ alive: false, reason }, {}, {}, { alive: null }],
  });
});

test("capacity, networks and metrics count them as free and name their number", async (t) => {
  const counted = reportOf(capacity);
  t.match(counted.document(), {
    networks: [{ reclaimable: 3, ranges: [{ used: 1n, free: 4n }] }],
  });
  t.match(
    counted.text(),
    "net: FREE includes 3 that ADD takes if no other is free: of dead pods, from before this boot, or of empty files.",
  );
  t.match(reportOf(networks).document(), { networks: [{ ranges: [{ free: 4n }] }] });
  t.match(reportOf(metrics).text(), /cni_ipam_addresses_used\{.*\} 1\n/);
});
