import { test } from "tap";
import { requireWritableStore } from "../../src/dry-run/writable-store.ts";
import { openNetwork } from "../../src/store/files/network-files.ts";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { location, open } from "../store/fixtures.ts";

test("while it is missing, the nearest existing directory above it counts", async (t) => {
  const cases = [
    ["/data", "/data"],
    ["/", "/"],
  ] as const;

  for (const [existing, asked] of cases) {
    const machine = new MemoryMachine();
    machine.disk.makeDirectories(existing);

    t.doesNotThrow(() => requireWritableStore(open(machine.start())));
    const refused = machine.start({ interrupt: refuse("requireWritable", "EROFS", asked) });
    t.throws(() => requireWritableStore(open(refused)), {
      message: `access ${asked}: read-only file system`,
    });
    t.notOk(machine.disk.has("/data/net"), "nothing is created");
  }
});

test("a relative data directory ends at the working directory", async (t) => {
  const system = new MemoryMachine().start({ interrupt: refuse("requireWritable", "ENOENT") });

  t.throws(() => requireWritableStore(openNetwork(system, "data", location.network)), {
    message: "access .: no such file or directory",
  });
});

test("a file in the path, or a dangling link, is an error", async (t) => {
  for (const path of ["/data", "/data/net"]) {
    const machine = new MemoryMachine();
    machine.disk.put(path, "");
    t.throws(() => requireWritableStore(open(machine.start())), {
      message: /^(?:stat|mkdir) \/data\/net: not a directory$/,
    });

    machine.disk.putLink(path, "/nowhere");
    t.throws(() => requireWritableStore(open(machine.start())), { code: "ENOTDIR" });
  }
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
