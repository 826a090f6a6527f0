import { test } from "tap";
import { withSafeStateDirectory } from "../../../src/store/files/state-directory.ts";
import { withLock } from "../../../src/store/lock.ts";
import { parseOwner } from "../../../src/store/reservations/owner.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { location, machineWith } from "../fixtures.ts";

const parts = ["/data/.host-local", location.stateDirectory, location.temporaryDirectory];

/** Whether the state directory is used on this machine. */
function usesStateDirectory(machine: MemoryMachine): boolean {
  return withSafeStateDirectory(machine.start(), location).usesStateDirectory;
}

test("the state directory is used where it, or a part of it, is missing or exists", (t) => {
  t.ok(usesStateDirectory(new MemoryMachine()));
  const machine = new MemoryMachine();
  for (const part of parts) {
    machine.disk.makeDirectories(part);
    t.ok(usesStateDirectory(machine), part);
  }
  t.end();
});

test("it is not used where a part of it is not a directory", (t) => {
  for (const part of parts) {
    const linked = machineWith();
    linked.disk.putLink(part, "/elsewhere");
    t.notOk(usesStateDirectory(linked), `${part} a link`);

    const file = machineWith();
    file.disk.put(part, "");
    t.notOk(usesStateDirectory(file), `${part} a file`);
  }
  t.end();
});

test("it is not used where lstat(2) fails on it", (t) => {
  for (const part of parts) {
    const system = machineWith().start({ interrupt: refuse("linkStatus", "EACCES", part) });

    t.notOk(withSafeStateDirectory(system, location).usesStateDirectory, part);
  }
  t.end();
});

test("where it is not used, everything is searched for, and nothing below it is touched", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.disk.putLink(location.temporaryDirectory, "/elsewhere");
  const system = machine.start();

  withLock(system, location, { holder: "", timeoutSeconds: 0 }, (store) => {
    t.equal(store.allOwned().length, 1);
    store.release({ name: "10.0.0.2", owner: parseOwner("c1\r\neth0") });
  });

  const touched = system.calls.filter(
    ({ operation, path }) => path.startsWith("/data/.host-local") && operation !== "linkStatus",
  );
  t.same(touched, []);
  t.end();
});
