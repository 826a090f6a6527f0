// test: own process
/** Whatever happens to a network over many boots, and to the clock: no address of a living container is ever taken. */

import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "tap";
import { extent } from "../../harness/extent.ts";
import { stopAt } from "../../harness/interruption.ts";
import { DATA_DIRECTORY, MemoryMachine } from "../../harness/memory-machine.ts";
import { type CallOptions, Network } from "../../harness/network.ts";
import { seed } from "../../harness/seed.ts";

const STATE = `${DATA_DIRECTORY}/.host-local/net`;

/** The native executable, and the portable one without `flock(2)`. */
const executables = [{}, { lockKind: "directory" }] as const;

/** The events on one machine, with the Go plugin beside us, and how often they happen. */
const onOneMachine = {
  ...{ add: 12, del: 4, boot: 3, "go add": 3, "go del": 2, wait: 3, "back up": 1, restore: 2 },
} as const;

const onTwoMachines = { add: 12, del: 4, boot: 3, "other machine": 5 } as const;

type Kind = keyof typeof onOneMachine | keyof typeof onTwoMachines;

function stepsOf(weights: Readonly<Partial<Record<Kind, number>>>) {
  const kinds = Object.entries(weights).flatMap(([kind, weight]) =>
    Array.from({ length: weight }, () => kind as Kind),
  );
  const step = fc.record({
    kind: fc.constantFrom(...kinds),
    id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
    by: fc.constantFrom(0, 0, 0, 1),
    killedAt: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined, freq: 5 }),
    // The clock may be set, too.
    milliseconds: fc.constantFrom(5, 3001, 61_000, -20, -61_000, 86_400_000, -86_400_000),
  });
  return fc.array(step, { maxLength: 60, size: "max" });
}

type Step = ReturnType<typeof stepsOf> extends fc.Arbitrary<(infer S)[]> ? S : never;

/** A network, and the containers that live there. */
class World {
  readonly network = new Network(new MemoryMachine(), {
    subnet: "10.0.0.0/29",
    repeatedAdd: "same",
    lockTimeoutSeconds: 0,
  });
  /** The containers of each machine, by address; a killed call leaves none. */
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
        this.#add(this.#idOf(step.id), optionsOf(step));
        break;
      case "del": {
        const containerId = this.#idOf(step.id);
        // Nobody relies on the container from the call of its DEL on.
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
      case "back up":
        this.#backup = disk.filesUnder(STATE);
        break;
      // A restore does nothing while there is no backup.
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

  /** The living containers that have lost their reservations. */
  get robbed(): readonly string[] {
    const reserved = this.network.reservations();
    return this.#living
      .flatMap((living) => [...living])
      .filter(([address, containerId]) => reserved[address] !== `${containerId}\r\neth0`)
      .map(([address, containerId]) => `${containerId} of ${address}`);
  }

  /** The answers about an attachment, and about the Go plugin's last one, that differ from what all files say. */
  wrongAbout(step: Step): readonly string[] {
    const ids = [this.#idOf(step.id), `go${this.#goContainers}`];
    return ids.flatMap((containerId) => this.#wrongOf(containerId, step));
  }

  /** The wrong answers to a container, each asked in the same state, which stays. */
  #wrongOf(containerId: string, step: Step): readonly string[] {
    const { network } = this;
    const holds = (): boolean =>
      Object.values(network.reservations()).includes(`${containerId}\r\neth0`);
    const options = executables[step.by];
    const isFound = network.machine.try(() => network.check(containerId, options).exitCode === 0);
    const isLeft = network.machine.try(() => network.del(containerId, options) && holds());
    return [
      ...(isFound === holds() ? [] : [`CHECK of ${containerId} says ${isFound}`]),
      ...(isLeft ? [`DEL of ${containerId} leaves an address`] : []),
    ];
  }

  get #own(): Map<string, string> {
    return this.#living[this.#machine];
  }

  /** The id of a container, which is unique among machines; a container may be started again after a boot. */
  #idOf(letter: string): string {
    return `${letter}${this.#machine}`;
  }

  #forget(containerId: string): void {
    for (const [address, owner] of this.#own) if (owner === containerId) this.#own.delete(address);
  }

  #add(containerId: string, options: CallOptions): void {
    const before = this.network.reservations();
    for (const address of this.network.add(containerId, options).addresses) {
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

function optionsOf({ by, killedAt }: Step): CallOptions {
  const interrupt = killedAt === undefined ? {} : { interrupt: stopAt(killedAt) };
  return { ...executables[by], ...interrupt };
}

for (const [where, weights] of [
  ["beside the Go plugin", onOneMachine],
  ["on two machines that share the directory", onTwoMachines],
] as const) {
  test(`nothing that lives is ever taken, and every answer follows the reservations: ${where}`, async (t) => {
    let reclaimed = 0;

    fc.assert(
      fc.property(stepsOf(weights), (taken) => {
        const world = new World();
        // A file system that two machines can mount is not one on which anything is noted.
        world.network.machine.isShared = where !== "beside the Go plugin";
        for (const step of taken) {
          world.take(step);
          deepStrictEqual(world.robbed, []);
          deepStrictEqual(world.wrongAbout(step), []);
        }
        reclaimed += world.reclaimed;
      }),
      { numRuns: extent === "short" ? 50 : 1000, seed },
    );

    if (where === "beside the Go plugin") t.ok(reclaimed > 0, `${reclaimed} gave way`);
    t.pass("nobody is robbed");
  });
}
