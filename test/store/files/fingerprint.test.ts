import { test } from "tap";
import { dateBack, identityOf } from "../../../src/store/files/fingerprint.ts";
import { refuse } from "../../harness/interruption.ts";
import { location, machineWith } from "../fixtures.ts";

const { directory } = location;

test("a directory that was dated back shows every later write, however coarse the clock", (t) => {
  for (const grain of [1n, 4_000_000n, 1_000_000_000n]) {
    const machine = machineWith();
    machine.disk.grain = grain;
    const identity = dateBack(machine.start(), directory);

    t.equal(identityOf(machine.disk.status(directory)), identity);
    machine.disk.put(`${directory}/10.0.0.2`, "");
    t.not(identityOf(machine.disk.status(directory)), identity);
  }
  t.end();
});

test("two processes never date a directory alike", (t) => {
  const machine = machineWith();

  t.not(dateBack(machine.start(), directory), dateBack(machine.start(), directory));
  t.end();
});

test("there is no identity to rely on where times are kept in full seconds, or cannot be set", (t) => {
  const coarse = machineWith();
  coarse.disk.resolution = 1_000_000_000n;
  t.equal(dateBack(coarse.start(), directory), undefined);

  const refused = machineWith().start({ interrupt: refuse("setModified", "EPERM") });
  t.equal(dateBack(refused, directory), undefined);
  t.end();
});
