import { test } from "tap";
import { underLock } from "../../src/store/lock.ts";
import { withSoundOwnDirectory } from "../../src/store/own-directory.ts";
import { parseOwner } from "../../src/store/owner.ts";
import { refuse } from "../system/interruption.ts";
import { MemoryMachine } from "../system/memory-machine.ts";
import { location, machineWith } from "./fixtures.ts";

const parts = ["/data/.host-local", location.own, location.owners, location.newFiles];

/** Whether our own directory is used as things stand on this machine. */
function usesOwn(machine: MemoryMachine): boolean {
  return withSoundOwnDirectory(machine.start(), location).usesOwn;
}

test("our own directory is used where it is missing, in part, or there", (t) => {
  t.ok(usesOwn(new MemoryMachine()));
  const machine = new MemoryMachine();
  for (const part of parts) {
    machine.disk.makeDirectories(part);
    t.ok(usesOwn(machine), part);
  }
  t.end();
});

test("it is not used where anything else than a directory stands in its place", (t) => {
  for (const part of parts) {
    const linked = machineWith();
    linked.disk.putLink(part, "/elsewhere");
    t.notOk(usesOwn(linked), `${part} a link`);

    const file = machineWith();
    file.disk.put(part, "");
    t.notOk(usesOwn(file), `${part} a file`);
  }
  t.end();
});

test("it is not used where nobody may say what it is", (t) => {
  for (const part of parts) {
    const system = machineWith().start({ interrupt: refuse("linkStatus", "EACCES", part) });

    t.notOk(withSoundOwnDirectory(system, location).usesOwn, part);
  }
  t.end();
});

test("where it is not used, everything is searched for, and nothing below it is touched", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.disk.putLink(location.owners, "/elsewhere");
  const system = machine.start();

  underLock(system, location, { holder: "", timeoutSeconds: 0 }, (ledger) => {
    t.equal(ledger.allOwned().length, 1);
    ledger.release({ name: "10.0.0.2", owner: parseOwner("c1\r\neth0") });
  });

  const touched = system.calls.filter(
    ({ operation, path }) => path.startsWith("/data/.host-local") && operation !== "linkStatus",
  );
  t.same(touched, []);
  t.end();
});
