import { test } from "tap";
import { bootTime, machineId } from "../../../src/store/files/boot-id.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { open } from "../fixtures.ts";

test("without /proc, or with something else in its place, there is none", async (t) => {
  const machine = new MemoryMachine();
  const id = machine.bootId?.trimEnd();
  for (const content of [undefined, "", "unknown\n", "x".repeat(100), `x${id}`, `${id}0`]) {
    machine.bootId = content;
    t.equal(open(machine.start()).boot(), undefined);
  }
});

test("the kernel tells when it booted, in full seconds", async (t) => {
  const machine = new MemoryMachine();
  const before = BigInt(machine.time) * 1_000_000n;
  machine.wait(90_500);
  t.equal(bootTime(machine.start()), before);
  const refused = machine.start({ interrupt: refuse("readFile", "EACCES", "/proc/stat") });
  t.equal(bootTime(refused), undefined);
  for (const line of ["xbtime 1", "btime 1x"]) {
    const odd = Object.assign(machine.start(), { readFile: () => `${line}\n` });
    t.equal(bootTime(odd), undefined, line);
  }
});

test("the id of the machine is 32 hexadecimal digits", async (t) => {
  const machine = new MemoryMachine();
  t.match(machineId(machine.start()), /^[0-9a-f]{32}$/);

  for (const content of [
    undefined,
    "uninitialized\n",
    `${"0".repeat(32)}\n`,
    `${"A".repeat(32)}\n`,
    `${"a".repeat(31)}\n`,
    `${"a".repeat(33)}\n`,
    `x${"a".repeat(32)}\n`,
  ]) {
    machine.machineId = content;
    t.equal(machineId(machine.start()), undefined, JSON.stringify(content));
  }
});

test("one that cannot be read for the moment is not taken for none, unlike one that never can", async (t) => {
  const machine = new MemoryMachine();
  for (const code of ["ENOENT", "EISDIR", "EFBIG"]) {
    const without = machine.start({ interrupt: refuse("readFile", code) });
    t.equal(machineId(without), undefined, code);
  }
  const system = machine.start({ interrupt: refuse("readFile", "EMFILE") });
  t.throws(() => machineId(system), { code: "EMFILE" });
});
