/** What `list` says of a container that the sources on a node show in part. */

import { test } from "tap";
import { list } from "../../../src/operator/reservations/list.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { withNetwork } from "../../store/fixtures.ts";
import { contextOf, memoryNode, places, startOperator } from "../memory-node.ts";

/** A node on which `c1` holds an address, since a while. */
function node(): MemoryMachine {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(3_600_000);
  return machine;
}

/** A process in a network namespace with that address, on a node without IPv6. */
function startProcess({ disk }: MemoryMachine): void {
  disk.makeDirectories("/proc/7/ns");
  disk.putLink("/proc/7/ns/net", "net:[4026532007]");
  disk.put("/proc/7/net/dev", "");
  disk.put("/proc/7/net/fib_trie", "  |-- 10.0.0.2\n     /32 host LOCAL\n");
}

function isAlive(machine: MemoryMachine): unknown {
  const document = list.run(contextOf(startOperator(machine).system, places)).document();
  const { reservations } = document as { reservations: readonly { alive?: unknown }[] };
  return reservations[0]?.alive;
}

test("a process protects its address on a node without IPv6", async (t) => {
  const machine = node();
  t.not(isAlive(machine), true);
  startProcess(machine);
  t.equal(isAlive(machine), true);
});

test("a process protects its address, also if the reservation is from before this boot", async (t) => {
  const machine = node();
  machine.boot();
  t.equal(isAlive(machine), false);
  startProcess(machine);
  t.equal(isAlive(machine), true);
});
