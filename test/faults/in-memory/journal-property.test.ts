// test: own process
/** Whatever happens to a network, in any order: every answer is what a full scan says. */

import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "tap";
import { extent } from "../../harness/extent.ts";
import { stopAt } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { seed } from "../../harness/seed.ts";
import { brokenAnswers, callFor, executables, JOURNAL, sets } from "./full-scan.ts";

/** Each is served by one side in its life, as a runtime does it: `go` and `hand` write without us. */
const ours = ["a eth0", "a eth1", "b eth0", "c eth0"] as const;
const foreign = ["go eth0", "hand eth0", "hand"] as const;
const addresses = ["10.0.0.2", "10.0.0.3", "10.0.0.6", "2001:db8::2", "10.9.9.9"] as const;

const by = fc.constantFrom(...executables);
const killedAt = fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined, freq: 3 });
const address = fc.constantFrom(...addresses);

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      verb: fc.constantFrom("ADD", "ADD", "DEL", "CHECK", "GC", "STATUS"),
      attachment: fc.constantFrom(...ours, "go eth0", "hand eth0"),
      by,
      killedAt,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("create" as const),
      address,
      owner: fc.constantFrom(...foreign),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("remove" as const), address }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete journal" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("cut journal off" as const),
      part: fc.integer({ min: 1, max: 99 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("double journal" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restore journal" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("boot" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("recreate directory" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("back up" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restore" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      // The clock may be set back, too.
      milliseconds: fc.constantFrom(1, 5, 1001, 3001, 61_000, -2000),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A network, and what was backed up of it. */
class World {
  readonly network: Network;
  #backup: Readonly<Record<string, string>> = {};
  #journal = "";

  constructor(machine: MemoryMachine) {
    this.network = new Network(machine, { ranges: sets.map((one) => [one]) });
    machine.disk.makeDirectories(this.network.directory);
  }

  take(step: Step): void {
    const { machine, directory } = this.network;
    const { disk } = machine;
    switch (step.kind) {
      case "call":
        this.#call(step);
        break;
      case "create":
        this.network.put(step.address, step.owner.replace(" ", "\r\n"));
        break;
      case "remove":
        disk.removeAll(`${directory}/${step.address}`);
        break;
      case "delete journal":
        disk.removeAll(JOURNAL);
        break;
      case "cut journal off":
        this.#spoil((journal) => journal.slice(0, (journal.length * step.part) / 100));
        break;
      case "double journal":
        this.#spoil((journal) => journal + journal);
        break;
      case "restore journal":
        this.#spoil(() => this.#journal);
        break;
      case "boot":
        machine.boot();
        break;
      case "recreate directory":
        disk.removeAll(directory);
        disk.makeDirectories(directory);
        break;
      case "back up":
        this.#backup = disk.filesUnder(directory);
        this.#spoil((journal) => {
          this.#journal = journal;
          return journal;
        });
        break;
      case "restore":
        disk.removeAll(directory);
        disk.makeDirectories(directory);
        for (const [name, content] of Object.entries(this.#backup)) this.network.put(name, content);
        break;
      case "wait":
        machine.wait(step.milliseconds);
    }
  }

  #spoil(change: (journal: string) => string): void {
    const { disk } = this.network.machine;
    if (disk.has(JOURNAL)) disk.write(JOURNAL, change(disk.readFile(JOURNAL, 1e6)));
  }

  #call({ verb, attachment, by, killedAt }: Extract<Step, { readonly kind: "call" }>): void {
    const interrupt = killedAt === undefined ? undefined : stopAt(killedAt);
    const options = { ...by.options, interrupt };
    if (verb === "GC") this.network.gc(["a eth0", attachment], options);
    else callFor(this.network, verb, attachment, options);
  }
}

for (const [clock, set] of [
  ["a fine clock", () => {}],
  [
    "a clock of 4 ms",
    (machine: MemoryMachine) => {
      machine.disk.grain = 4_000_000n;
    },
  ],
  [
    "times in full seconds",
    (machine: MemoryMachine) => {
      machine.disk.resolution = 1_000_000_000n;
    },
  ],
] as const) {
  test(`any sequence of events leaves every answer as a full scan gives it: ${clock}`, (t) => {
    const steps = fc.array(step, { maxLength: 25, size: "max" });

    fc.assert(
      fc.property(steps, by, (taken, asked) => {
        const machine = new MemoryMachine();
        set(machine);
        const world = new World(machine);
        for (const one of taken) {
          world.take(one);
          const names = [...ours, "go eth0", "hand eth0"];
          deepStrictEqual(brokenAnswers(world.network, names, asked.options), []);
        }
      }),
      { numRuns: extent === "short" ? 20 : 60, seed },
    );

    t.pass("no sequence makes the journal lie");
    t.end();
  });
}
