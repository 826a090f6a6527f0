import { test } from "tap";
import { releaseAll, requireRead, shortened } from "../../src/store/release.ts";
import { type Interrupt, refuse } from "../harness/interruption.ts";
import type { MemoryMachine } from "../harness/memory-machine.ts";
import { filesOf, journalOf, machineWith, withNetwork } from "./fixtures.ts";

const two = { "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c1\r\neth0" };

/** Releases all reservations. */
function release(machine: MemoryMachine, interrupt: Interrupt): void {
  withNetwork(machine.start({ interrupt }), (network) => releaseAll(network, network.allOwned()));
}

test("what cannot be removed is reported after the rest is removed, and found by the next call", async (t) => {
  const machine = machineWith(two);
  const refusal = refuse("unlink", "EIO", "/data/net/10.0.0.2");
  const error = { code: 5, message: "failed to release 1 of 2 addresses" };
  const details = "unlink /data/net/10.0.0.2: input/output error";

  t.throws(() => release(machine, refusal), { ...error, details });

  t.same(Object.keys(filesOf(machine)), ["10.0.0.2"]);
  t.same(journalOf(machine), {}, "whether it took effect is not known");
  const held = withNetwork(machine.start(), (network) => network.allOwned());
  t.equal(held.length, 1);

  t.throws(() => release(machineWith(two), refuse("unlink", "EIO")), {
    message: "failed to release 2 of 2 addresses",
    details: `${details}; unlink /data/net/10.0.0.3: input/output error`,
  });
});

test("of many files that cannot be read the first ten are named", async (t) => {
  const reasons = Array.from({ length: 12 }, (_, at) => `open /data/net/10.0.0.${at}: EIO`);
  t.doesNotThrow(() => requireRead([], "the reservations"));
  const ten = reasons.slice(0, 10);
  t.same(shortened(ten), ten);
  t.throws(() => requireRead(reasons, "the reservations"), {
    code: 5,
    message: "cannot read 12 of the reservations",
    details: [...ten, "2 more"].join("; "),
  });
});
