/** The machine in memory behaves as a real one; and what no test would notice if it did not happen to a process, happens. */

import { test } from "tap";
import type { System } from "../../src/system/system.ts";
import { decoded } from "../harness/hostile-bytes.ts";
import { stopAt } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { fileSystemCases, outcomeOf } from "./file-system-cases.ts";

test("file calls in memory behave as on the real file system", async (t) => {
  for (const fileCase of fileSystemCases) {
    const machine = new MemoryMachine();
    machine.disk.makeDirectories("/root");
    for (const [name, target] of Object.entries(fileCase.links ?? {})) {
      machine.disk.putLink(`/root/${name}`, decoded(target));
    }
    for (const [name, content] of Object.entries(fileCase.files ?? {})) {
      machine.disk.put(`/root/${decoded(name)}`, decoded(content));
    }

    t.same(outcomeOf(fileCase, machine.start(), "/root"), fileCase.expected, fileCase.name);
  }
});

test("a process is stopped before the chosen call, and nothing that it does afterwards counts", async (t) => {
  const machine = new MemoryMachine();

  const outcome = machine.run({ interrupt: stopAt(2) }, (system) => {
    system.createFile("/1", "", 0o600);
    try {
      system.createFile("/2", "", 0o600);
    } catch {
      // A handler that takes everything for a failure and goes on.
    }
    system.createFile("/3", "", 0o600);
    return 0;
  });

  t.equal(outcome.exitCode, undefined);
  t.same(machine.disk.list("/"), ["run", "1"]);
});

test("a process stops within a file: a new one has a part, an old one may end with line ends", async (t) => {
  for (const [part, created, overwritten] of [
    [0, "", "10.0.0.12"],
    [0.5, "1234", "12345678\n\n"],
  ] as const) {
    const machine = new MemoryMachine();
    machine.disk.put("/old", "10.0.0.12");

    for (const write of [
      (system: System) => system.createFile("/new", "12345678", 0o600),
      (system: System) => system.overwriteFile("/old", "12345678"),
    ]) {
      machine.run({ interrupt: stopAt(1, part) }, (system) => {
        write(system);
        return 0;
      });
    }

    t.equal(machine.disk.readFile("/new", 100), created);
    t.equal(machine.disk.readFile("/old", 100), overwritten);
  }
});
