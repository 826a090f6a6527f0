/** What `list` says of a container that the sources on a node show in part. */

import { test } from "tap";
import { list } from "../../../src/operator/reservations/list.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { machineWith, withNetwork } from "../../store/fixtures.ts";
import { contextOf, startOperator } from "../memory-node.ts";

const RESULTS = "/cache/results";
const options = { "--data-dir": "/data", "--conf-dir": "/conf", "--cache-dir": "/cache" };

/** A node on which `c1` holds an address, since a while. */
function node(content = "c1\r\neth0"): MemoryMachine {
  const machine = machineWith({ "10.0.0.2": content });
  for (const directory of ["/conf", RESULTS]) machine.disk.makeDirectories(directory);
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(3_600_000);
  return machine;
}

/** A process in a network namespace with that address, on a node without IPv6. */
function startProcess({ disk }: MemoryMachine): void {
  disk.put("/proc/7/net/dev", "");
  disk.put("/proc/7/net/fib_trie", "  |-- 10.0.0.2\n     /32 host LOCAL\n");
}

/** An attachment in libcni's cache. */
function remember({ disk }: MemoryMachine, interfaceName: string, netns: string): void {
  const entry = { networkName: "net", containerId: "c1", ifName: interfaceName, netns };
  disk.put(`${RESULTS}/net-c1-${interfaceName}`, JSON.stringify(entry));
}

function isAlive(machine: MemoryMachine): unknown {
  const { document } = list.run(contextOf(startOperator(machine).system, options));
  const { reservations } = document as { reservations: readonly { alive?: unknown }[] };
  return reservations[0]?.alive;
}

test("a process protects its address on a node without IPv6", (t) => {
  const machine = node();
  t.not(isAlive(machine), true);
  startProcess(machine);
  t.equal(isAlive(machine), true);
  t.end();
});

test("a process protects its address, also if the reservation is from before this boot", (t) => {
  const machine = node();
  machine.boot();
  t.equal(isAlive(machine), false);
  startProcess(machine);
  t.equal(isAlive(machine), true);
  t.end();
});

test("an attachment that cannot be decided keeps its container from being dead by another", (t) => {
  const machine = node("c1");
  for (const path of ["/proc/self/ns/net", "/run/netns/of-other"]) machine.disk.put(path, "");
  remember(machine, "eth0", "/run/netns/gone");
  t.equal(isAlive(machine), false);
  remember(machine, "net1", "");
  t.equal(isAlive(machine), null);
  t.end();
});
