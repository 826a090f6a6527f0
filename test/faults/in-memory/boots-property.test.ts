// test: own process
/** Whatever happens to a network over many boots: nothing that lives is ever taken. */

import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "tap";
import { extent } from "../../harness/extent.ts";
import { stopAt } from "../../harness/interruption.ts";
import { DATA_DIRECTORY, MemoryMachine } from "../../harness/memory-machine.ts";
import { type Answer, Network } from "../../harness/network.ts";
import { seed } from "../../harness/seed.ts";

const STATE = `${DATA_DIRECTORY}/.host-local/net`;

/** The native executable, and the portable one where it has no `flock(2)`. */
const executables = [{}, { lockKind: "directory" }] as const;

const by = fc.constantFrom(0, 0, 0, 1);
const killedAt = fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined, freq: 5 });
const id = fc.constantFrom("a", "b", "c", "d", "e", "f", "g");
const one = <T extends string>(kind: T): fc.Arbitrary<{ readonly kind: T }> =>
  fc.record({ kind: fc.constant(kind) });

/** What happens on one machine, the Go plugin beside us. */
const event = [
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("add" as const), id, by, killedAt }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("del" as const), id, by, killedAt }) },
  { weight: 3, arbitrary: one("boot") },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("request" as const), id }) },
] as const;

const ofOneMachine = fc.oneof(
  ...event,
  { weight: 3, arbitrary: one("go add") },
  { weight: 2, arbitrary: one("go del") },
  { weight: 1, arbitrary: one("delete journal") },
  { weight: 1, arbitrary: one("back up") },
  { weight: 1, arbitrary: one("restore") },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      // The clock may be set, too.
      milliseconds: fc.constantFrom(5, 3001, 61_000, -61_000, 86_400_000, -86_400_000),
    }),
  },
);

const ofTwoMachines = fc.oneof(...event, { weight: 5, arbitrary: one("other machine") });

type Step =
  | (typeof ofOneMachine extends fc.Arbitrary<infer T> ? T : never)
  | (typeof ofTwoMachines extends fc.Arbitrary<infer T> ? T : never);

/** A network, and who lives there. */
class World {
  readonly network = new Network(new MemoryMachine(), {
    subnet: "10.0.0.0/29",
    repeatedAdd: "same",
    lockTimeoutSeconds: 0,
  });
  /** The containers of each machine, by address; a call that was killed leaves nobody. */
  readonly #living = [new Map<string, string>(), new Map<string, string>()] as const;
  #machine: 0 | 1 = 0;
  #boots = 0;
  #goContainers = 0;
  #backup: Readonly<Record<string, string>> = {};
  reclaimed = 0;

  constructor() {
    this.#boot();
  }

  take(step: Step): void {
    const { network } = this;
    const { machine, directory } = network;
    const { disk } = machine;
    switch (step.kind) {
      case "add":
        this.#add(this.#idOf(step.id), (containerId) => network.add(containerId, optionsOf(step)));
        break;
      case "request":
        this.#add(this.#idOf(step.id), (containerId) =>
          network.add(containerId, { cniArgs: "IP=10.0.0.4" }),
        );
        break;
      case "del": {
        const containerId = this.#idOf(step.id);
        // From its call on, nobody relies on it.
        this.#forget(containerId);
        network.del(containerId, optionsOf(step));
        break;
      }
      case "boot":
        this.#own.clear();
        this.#boot();
        break;
      case "other machine":
        this.#machine = this.#machine === 0 ? 1 : 0;
        this.#enter();
        break;
      case "go add": {
        const free = [2, 3, 4, 5, 6].find((last) => !disk.has(`${directory}/10.0.0.${last}`));
        if (free === undefined) break;
        const containerId = `go${++this.#goContainers}`;
        network.put(`10.0.0.${free}`, `${containerId}\r\neth0`);
        this.#own.set(`10.0.0.${free}`, containerId);
        break;
      }
      case "go del": {
        const found = [...this.#own].find(([, owner]) => owner.startsWith("go"));
        if (found === undefined) break;
        this.#own.delete(found[0]);
        disk.unlink(`${directory}/${found[0]}`);
        break;
      }
      case "delete journal":
        disk.removeAll(`${STATE}/journal`);
        break;
      case "back up":
        this.#backup = disk.filesUnder(STATE);
        break;
      case "restore":
        disk.removeAll(STATE);
        for (const [name, content] of Object.entries(this.#backup)) {
          disk.put(`${STATE}/${name}`, content);
        }
        break;
      case "wait":
        machine.wait(step.milliseconds);
    }
  }

  /** Who lives and has lost the reservation. */
  get robbed(): readonly string[] {
    const reserved = this.network.reservations();
    return this.#living
      .flatMap((living) => [...living])
      .filter(([address, containerId]) => reserved[address] !== `${containerId}\r\neth0`)
      .map(([address, containerId]) => `${containerId} of ${address}`);
  }

  get #own(): Map<string, string> {
    return this.#living[this.#machine];
  }

  /** Container ids are those of one machine; a container may be started again after a boot. */
  #idOf(letter: string): string {
    return `${letter}${this.#machine}`;
  }

  #forget(containerId: string): void {
    for (const [address, owner] of this.#own) if (owner === containerId) this.#own.delete(address);
  }

  #add(containerId: string, call: (containerId: string) => Answer): void {
    const before = this.network.reservations();
    for (const address of call(containerId).addresses) {
      const owner = before[address];
      if (owner !== undefined && owner !== `${containerId}\r\neth0`) this.reclaimed++;
      this.#own.set(address, containerId);
    }
  }

  #boot(): void {
    this.network.machine.boot();
    this.#boots++;
    this.#bootIds[this.#machine] =
      `11111111-2222-3333-4444-${String(this.#boots).padStart(12, "0")}\n`;
    this.#enter();
  }

  readonly #bootIds = [
    "22222222-2222-3333-4444-000000000000\n",
    "33333333-2222-3333-4444-000000000000\n",
  ];

  #enter(): void {
    const { machine } = this.network;
    machine.locks.clear();
    machine.bootId = this.#bootIds[this.#machine];
    machine.machineId = `${String(this.#machine).repeat(31)}a\n`;
  }
}

function optionsOf(step: { readonly by: number; readonly killedAt: number | undefined }): object {
  const interrupt = step.killedAt === undefined ? undefined : stopAt(step.killedAt);
  return { ...executables[step.by], interrupt };
}

for (const [where, step] of [
  ["beside the Go plugin", ofOneMachine],
  ["on two machines that share the directory", ofTwoMachines],
] as const) {
  test(`nothing that lives is ever taken, over any number of boots: ${where}`, async (t) => {
    const steps: fc.Arbitrary<readonly Step[]> = fc.array(step as fc.Arbitrary<Step>, {
      maxLength: 60,
      size: "max",
    });
    let reclaimed = 0;

    fc.assert(
      fc.property(steps, (taken) => {
        const world = new World();
        // What two machines can mount is not one of the file systems on which anything is noted.
        world.network.machine.isShared = where !== "beside the Go plugin";
        for (const one of taken) {
          world.take(one);
          deepStrictEqual(world.robbed, []);
        }
        reclaimed += world.reclaimed;
      }),
      { numRuns: extent === "short" ? 150 : 2000, seed },
    );

    if (where === "beside the Go plugin") t.ok(reclaimed > 10, `${reclaimed} gave way`);
    t.pass("nobody is robbed");
  });
}
