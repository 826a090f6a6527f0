import { test } from "tap";
import {
  dateApart,
  dateBack,
  fingerprintApart,
  fingerprintOf,
  isUnchanged,
} from "../../../src/store/files/fingerprint.ts";
import type { System } from "../../../src/system/system.ts";
import { refuse } from "../../harness/interruption.ts";
import { location, machineWith } from "../fixtures.ts";

const { directory } = location;

/** Dates the directory back, by what it was before. */
function dated(system: System): ReturnType<typeof dateBack> {
  return dateBack(system, directory, fingerprintOf(system.status(directory)));
}

test("two processes never date a directory alike", async (t) => {
  const machine = machineWith();
  machine.wait(8);
  machine.disk.put(`${directory}/10.0.0.2`, "");

  const times = [1, 999, 1000, 4_194_303].map((processId) => {
    dated(machine.start({ processId }));
    return machine.disk.status(directory).modified;
  });

  const threeSecondsAgo = BigInt(machine.time - 3000) * 1_000_000n;
  for (const time of times) {
    t.ok(time > threeSecondsAgo && time < threeSecondsAgo + 1_000_000n, "to the millisecond");
  }
  t.equal(new Set(times).size, times.length);
});

test("with times in full seconds, it is one that no write gives, another in each process", async (t) => {
  const machine = machineWith();
  machine.disk.resolution = 1_000_000_000n;
  const times = [1, 999, 4_194_303].map((processId) => {
    const fingerprint = dated(machine.start({ processId }));
    const status = machine.disk.status(directory);
    t.ok(fingerprint && isUnchanged(fingerprintOf(status), fingerprint));
    return status.modified;
  });
  t.equal(new Set(times).size, times.length);
  t.ok(times.every((time) => time < BigInt(machine.time - 2000) * 1_000_000n));
  machine.disk.put(`${directory}/10.0.0.2`, "");
  t.notOk(times.includes(machine.disk.status(directory).modified));
});

test("there is no fingerprint to rely on where times are kept in minutes, or cannot be set", async (t) => {
  const coarse = machineWith();
  coarse.disk.resolution = 60_000_000_000n;
  t.equal(dated(coarse.start()), undefined);

  const refused = machineWith().start({ interrupt: refuse("setModified", "EPERM") });
  t.equal(dated(refused), undefined);

  const written = machineWith();
  const now = BigInt(written.time) * 1_000_000n;
  const meanwhile = (): void => written.disk.setModified(directory, now + 5n);
  const disturbed = written.start({
    interrupt: ({ operation }) =>
      operation === "status" ? { kind: "pause", meanwhile } : undefined,
  });
  t.equal(dated(disturbed), undefined, "somebody writes at the same time");
});

const file = `${directory}/10.0.0.2`;

test("a file that was dated is known also where its time is set a little inexactly", async (t) => {
  const machine = machineWith({ "10.0.0.2": "" });
  const system = machine.start();
  for (const [resolution, isKnown] of [
    [100n, true],
    [1000n, true],
    [1_000_000n, false],
    [1_000_000_000n, false],
  ] as const) {
    machine.disk.resolution = resolution;
    const time = dateApart(system, file);
    t.equal(fingerprintApart(system, file, time) !== undefined, isKnown, `${resolution} ns`);
  }
});

test("another file in the place of one that was dated is not it, nor what is no file", async (t) => {
  const machine = machineWith({ "10.0.0.2": "" });
  const system = machine.start();
  const time = dateApart(system, file);
  machine.disk.put(file, "");
  t.equal(fingerprintApart(system, file, time), undefined);
  machine.disk.putLink(file, "/elsewhere");
  t.equal(fingerprintApart(system, file, time), undefined);
  machine.disk.unlink(file);
  t.equal(dateApart(system, file), undefined);
  t.equal(fingerprintApart(system, file, time), undefined);
  t.equal(fingerprintApart(system, file, undefined), undefined);
});

test("a directory is unchanged while inode and both times are the same", async (t) => {
  const status = machineWith().disk.status(directory);
  const before = fingerprintOf(status);
  t.ok(isUnchanged(fingerprintOf({ ...status }), before));
  for (const member of ["inode", "modified", "changed"] as const) {
    const now = fingerprintOf({ ...status, [member]: status[member] + 1n });
    t.notOk(isUnchanged(now, before), member);
  }
});
