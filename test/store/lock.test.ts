import { test } from "tap";
import { withLock, withLockIfPossible } from "../../src/store/lock.ts";
import { LockTimeout } from "../../src/system/system.ts";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { location, machineWith, open } from "./fixtures.ts";

const request = { timeoutSeconds: 3 };
const LOCK = "/data/.host-local/net/lock";

test("withLockIfPossible holds the lock during its body, and releases it even if that throws", async (t) => {
  const machine = machineWith();
  const process = machine.start({ processId: 7 });
  const fail = (): never => {
    throw new Error("the work failed");
  };

  t.equal(
    withLockIfPossible(open(process), request, () => machine.locks.get(LOCK)),
    "process 7",
  );
  t.notOk(process.calls.some(({ operation }) => operation === "writeStandardError"));
  t.equal(machine.locks.size, 0);
  t.throws(() => withLockIfPossible(open(process), request, fail), { message: "the work failed" });
  t.equal(machine.locks.size, 0);
});

test("the trace of another process is named if the lock knows it", async (t) => {
  const process = machineWith().start();
  const id = "4bf92f3577b34da6a3ce929d0e0e4736";
  process.lock = ({ file }) => {
    throw new LockTimeout(file, undefined, `00-${id}-00f067aa0ba902b7-01`);
  };

  t.throws(() => withLock(open(process), request, () => {}), {
    message: "network net is locked; gave up after 3 s",
    details: `/data/net/lock is held by another process, trace ${id}; nothing was changed. The timeout is ipam.lockTimeoutSeconds`,
  });
});

test("where the lock cannot be taken, withLock fails with the Go plugin's message", async (t) => {
  const system = machineWith().start({ interrupt: refuse("lock", "EACCES") });

  t.throws(() => withLock(open(system), request, () => t.fail("it does nothing")), {
    code: 999,
    message: "permission denied",
    details: "open /data/net/lock: permission denied: the lock cannot be taken",
  });
});

test("withLock makes the network's directory only where the lock needs it", async (t) => {
  const fresh = new MemoryMachine().start();
  const known = machineWith().start();

  withLock(open(fresh), request, () => {});
  withLock(open(known), request, () => {});

  const operations = fresh.calls
    .map(({ operation }) => operation)
    .filter((operation) => operation !== "permissions");
  t.same(operations.slice(0, 3), ["lock", "makeDirectories", "lock"]);
  t.notOk(
    known.calls.some(
      ({ operation, path }) => operation === "makeDirectories" && path === location.directory,
    ),
  );
});

test("warnings are written once the lock is released: their reader may block the call", async (t) => {
  const process = machineWith().start();

  withLock(open(process), request, (network) => network.warn("a warning\n"));

  t.equal(process.stderr, "a warning\n");
  const operations = process.calls.map(({ operation }) => operation);
  t.same(operations.slice(-2), ["unlock", "writeStandardError"]);
});
