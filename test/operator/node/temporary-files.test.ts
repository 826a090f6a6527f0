/** temporary-files.ts: what killed processes leave. */

import { test } from "tap";
import { removeAbandoned, replaceFile } from "../../../src/operator/node/temporary-files.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const BIN = "/opt/cni/bin";
const TEMPORARY = ".host-local.01234567-89ab-4cde-8f01-23456789abcd";

test("a temporary file goes after ten minutes, whoever made it, and no other file does", async (t) => {
  const machine = new MemoryMachine();
  const system = machine.start();
  system.makeDirectories(BIN);
  const others = [".host-local.77.new", ".host-local.note", "host-local", `x${TEMPORARY}`];
  for (const name of [TEMPORARY, ...others]) system.createFile(`${BIN}/${name}`, "", 0o755);
  const names = (): readonly string[] => [...system.list(BIN)].sort();

  machine.wait(599_000);
  removeAbandoned(system, BIN);
  t.same(names(), [TEMPORARY, ...others].sort());

  machine.wait(2_000);
  removeAbandoned(system, BIN);
  t.same(names(), others.sort());
});

test("what a killed process has left beside the file goes with a later one", async (t) => {
  const machine = new MemoryMachine();
  const system = machine.start();
  for (const directory of ["/metrics", "/proc/sys/kernel/random"])
    system.makeDirectories(directory);
  const another = "fedcba98-7654-4321-8fed-cba987654321\n";
  system.createFile("/proc/sys/kernel/random/uuid", another, 0o444);
  system.createFile("/metrics/.host-local.01234567-89ab-4cde-8f01-23456789abcd", "half", 0o644);

  replaceFile(system, "--output", "/metrics/x.prom", "1\n");
  t.equal(system.list("/metrics").length, 2);

  machine.wait(601_000);
  replaceFile(system, "--output", "/metrics/x.prom", "2\n");
  t.same(system.list("/metrics"), ["x.prom"]);
  t.equal(system.readFile("/metrics/x.prom", 10), "2\n");
});
