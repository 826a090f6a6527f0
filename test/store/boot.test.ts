import { test } from "tap";
import { bootId } from "../../src/store/boot.ts";
import { MemoryMachine } from "../system/memory-machine.ts";

test("each boot has an id of its own", (t) => {
  const machine = new MemoryMachine();
  const first = bootId(machine.start());
  t.equal(first, bootId(machine.start()));

  machine.boot();

  t.not(bootId(machine.start()), first);
  t.end();
});

test("without /proc, or with something else in its place, there is none", (t) => {
  const machine = new MemoryMachine();
  for (const content of [undefined, "", "unknown\n", "x".repeat(100)]) {
    machine.bootId = content;
    t.equal(bootId(machine.start()), undefined);
  }
  t.end();
});
