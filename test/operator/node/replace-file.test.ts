import { test } from "tap";
import { replaceFile } from "../../../src/operator/node/replace-file.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

test("what a killed process has left beside the file goes with a later one", async (t) => {
  const machine = new MemoryMachine();
  const system = machine.start();
  for (const directory of ["/metrics", "/proc/sys/kernel/random"])
    system.makeDirectories(directory);
  const another = "fedcba98-7654-4321-8fed-cba987654321\n";
  system.createFile("/proc/sys/kernel/random/uuid", another, 0o444);
  system.createFile("/metrics/.host-local.01234567-89ab-4cde-8f01-23456789abcd", "half", 0o644);

  replaceFile(system, "metrics --output", "/metrics/x.prom", "1\n");
  t.equal(system.list("/metrics").length, 2);

  machine.wait(601_000);
  replaceFile(system, "metrics --output", "/metrics/x.prom", "2\n");
  t.same(system.list("/metrics"), ["x.prom"]);
  t.equal(system.readFile("/metrics/x.prom", 10), "2\n");
});
