import { test } from "tap";
import { releaseSeenDead, type SeenDead } from "../../../src/operator/gc/seen-dead.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, journalOf, location, machineWith, withNetwork } from "../../store/fixtures.ts";

const files = { "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c1\r\neth0", "10.0.0.4": "c2" };

/** A reservation as it is now. */
function seen(machine: MemoryMachine, name: string, owner: string): Omit<SeenDead, "since"> {
  const { modified } = machine.start().linkStatus(`${location.directory}/${name}`);
  return { name, owner, modified };
}

test("a reservation that is unchanged since it was seen dead is released, also in the journal", (t) => {
  const machine = machineWith(files);
  const dead = [seen(machine, "10.0.0.2", "c1\r\neth0"), seen(machine, "10.0.0.4", "c2")];

  const released = withNetwork(machine.start(), (network) => releaseSeenDead(network, dead));

  t.same(released, ["10.0.0.2", "10.0.0.4"]);
  t.same(Object.keys(filesOf(machine)), ["10.0.0.3"]);
  t.same(journalOf(machine), { "c1 eth0": "10.0.0.3", "c2 /": "" });
  t.end();
});

test("a reservation that is gone, has another owner or was written again is not released", (t) => {
  const machine = machineWith(files);
  const dead = [
    seen(machine, "10.0.0.2", "c9\r\neth0"),
    seen(machine, "10.0.0.3", "c1\r\neth0"),
    { name: "10.0.0.9", owner: "c1\r\neth0", modified: 1n },
  ];
  machine.wait(1);
  machine.disk.put(`${location.directory}/10.0.0.3`, "c1\r\neth0");

  const released = withNetwork(machine.start(), (network) => releaseSeenDead(network, dead));

  t.same(released, []);
  t.same(Object.keys(filesOf(machine)), Object.keys(files));
  t.end();
});

test("what cannot be removed is reported after the rest is removed", (t) => {
  const machine = machineWith(files);
  const dead = [seen(machine, "10.0.0.2", "c1\r\neth0"), seen(machine, "10.0.0.4", "c2")];
  const interrupt = refuse("unlink", "EIO", `${location.directory}/10.0.0.2`);

  t.throws(
    () => withNetwork(machine.start({ interrupt }), (network) => releaseSeenDead(network, dead)),
    {
      code: 5,
      message: "failed to release 1 of 2 addresses",
    },
  );
  t.same(Object.keys(filesOf(machine)), ["10.0.0.2", "10.0.0.3"]);
  t.end();
});
