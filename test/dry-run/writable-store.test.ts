import { test } from "tap";
import { requireWritableStore } from "../../src/dry-run/writable-store.ts";
import { openNetwork } from "../../src/store/files/network-files.ts";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { location, open } from "../store/fixtures.ts";

test("a relative data directory ends at the working directory", async (t) => {
  const system = new MemoryMachine().start({ interrupt: refuse("requireWritable", "ENOENT") });

  t.throws(() => requireWritableStore(openNetwork(system, "data", location.network)), {
    message: "access .: no such file or directory",
  });
});

test("a directory that another call makes meanwhile is no obstacle", async (t) => {
  const machine = new MemoryMachine();
  machine.disk.makeDirectories("/data");
  const system = machine.start({
    interrupt: ({ operation, path }) =>
      operation === "linkStatus" && path === location.directory
        ? { kind: "pause", meanwhile: () => machine.disk.makeDirectories(path) }
        : undefined,
  });

  t.doesNotThrow(() => requireWritableStore(open(system)));
  t.ok(machine.disk.has(location.directory));
});
