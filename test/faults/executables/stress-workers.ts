/** What the workers of a stress do: random calls for attachments of their own, each one at a time. */

import type { StressCalls } from "./stress-calls.ts";
import type { StressNetwork } from "./stress-networks.ts";
import { knowsStatus, type Subject } from "./subject.ts";

/** How many attachments a worker has in each network: together they need more addresses than there are. */
const SLOTS = 2;

/** A GC lists the containers that come next in a slot, too, since they may be added while it runs. */
const LISTED_AHEAD = 3;

/** The percentage of calls, after a boot, that are a DEL for the container before the present one of a slot. */
const LATE = 5;

/** A place for one container after the other. */
interface Slot {
  readonly network: StressNetwork;
  readonly name: string;
  generation: number;
}

type Verb = "ADD" | "DEL" | "CHECK";

/** All workers of a stress. */
export class StressWorkers {
  readonly #calls: StressCalls;
  readonly #programs: readonly Subject[];
  readonly #workers: readonly (readonly Slot[])[];
  readonly #ours: readonly Subject[];
  readonly #withStatus: readonly Subject[];
  /** The lists of the GCs that run. */
  readonly #lists = new Set<ReadonlySet<string>>();
  #hasBooted = false;

  constructor(calls: StressCalls, programs: readonly Subject[], count: number) {
    this.#calls = calls;
    this.#programs = programs;
    this.#ours = programs.filter(({ name }) => name !== "Go");
    this.#withStatus = programs.filter(knowsStatus);
    this.#workers = Array.from({ length: count }, (_, worker) =>
      calls.networks.flatMap((network) =>
        Array.from({ length: SLOTS }, (_, slot) => ({
          network,
          name: `${network.name}-worker${worker}-slot${slot}`,
          generation: 0,
        })),
      ),
    );
  }

  /** Lets all of them work until some calls have ended; those that still run then are killed, if `ends` says so. */
  async workFor(calls: number, ends: "regularly" | "killed"): Promise<void> {
    const enough = this.#calls.count + calls;
    await Promise.all(
      this.#workers.map(async (slots) => {
        while (this.#calls.count < enough) await this.#step(slots);
        if (ends === "killed") this.#calls.killAll();
      }),
    );
  }

  /** The machine has booted: no container lives on, and some of them start again. */
  boot(): void {
    this.#hasBooted = true;
    for (const slot of this.#workers.flat()) {
      if (this.#holding(slot).kind !== "absent" && this.#calls.random.chance(50)) this.#die(slot);
    }
  }

  async #step(slots: readonly Slot[]): Promise<void> {
    const { random } = this.#calls;
    const slot = random.pick(slots);
    const { network } = slot;
    if (this.#hasBooted && slot.generation > 0 && random.chance(LATE)) {
      await this.#run(slot, "DEL", this.#programs, slot.generation - 1);
      return;
    }
    const kind = random.integer(100);
    if (kind < 4 && this.#withStatus.length > 0) {
      const program = random.pick(this.#withStatus);
      await this.#calls.run(network, program, { verb: "STATUS", attachment: "" });
    } else if (kind < 7 && this.#ours.length > 0) {
      await this.#collect(network);
    } else await this.#attend(slot, random.integer(100));
  }

  async #attend(slot: Slot, choice: number): Promise<void> {
    const holding = this.#holding(slot);
    switch (holding.kind) {
      case "absent":
        if (choice < 80) await this.#run(slot, "ADD");
        else await this.#run(slot, choice < 90 ? "CHECK" : "DEL");
        break;
      case "held":
        if (choice < 50) await this.#run(slot, "DEL");
        else if (choice < 75) await this.#run(slot, "CHECK");
        else await this.#addAgainOrDie(slot, choice < 85);
        break;
      case "unknown":
        // After a boot it starts again, in most cases; after a kill it is deleted.
        if (choice < (holding.isEarlier ? 20 : 75)) await this.#run(slot, "DEL");
        else await this.#addAgainOrDie(slot, choice < 90);
    }
  }

  /** Not by the Go plugin: where that refuses the second ADD, it frees what the first one got; and it has no GC. */
  async #addAgainOrDie(slot: Slot, isAdded: boolean): Promise<void> {
    if (this.#ours.length === 0) await this.#run(slot, "CHECK");
    else if (isAdded) await this.#run(slot, "ADD", this.#ours);
    else this.#die(slot);
  }

  /** The container disappears without a DEL, unless a GC runs that does not list the next one. */
  #die(slot: Slot): void {
    const next = idOf(slot, slot.generation + 1);
    const prefix = idOf(slot, slot.generation);
    const isListed = [...this.#lists].every((list) => !list.has(prefix) || list.has(next));
    if (this.#ours.length === 0 || !isListed) return;
    this.#calls.ledgerOf(slot.network).die(prefix);
    slot.generation++;
  }

  #run(
    slot: Slot,
    verb: Verb,
    programs = this.#programs,
    generation = slot.generation,
  ): Promise<unknown> {
    const program = this.#calls.random.pick(programs);
    return this.#calls.run(slot.network, program, { verb, attachment: idOf(slot, generation) });
  }

  /** Lists all but the dead; after a boot also those, in most cases, since a runtime's cache survives it. */
  async #collect(network: StressNetwork): Promise<void> {
    const { random } = this.#calls;
    const listsDead = this.#hasBooted && random.chance(80);
    const valid = new Set(
      this.#workers.flat().flatMap((slot) => {
        if (slot.network !== network) return [];
        const first = listsDead ? 0 : slot.generation;
        const length = slot.generation - first + LISTED_AHEAD;
        return Array.from({ length }, (_, at) => idOf(slot, first + at));
      }),
    );
    this.#lists.add(valid);
    const program = random.pick(this.#ours);
    await this.#calls.run(network, program, { verb: "GC", attachment: "", valid });
    this.#lists.delete(valid);
  }

  #holding(slot: Slot) {
    return this.#calls.ledgerOf(slot.network).holdingOf(idOf(slot, slot.generation));
  }
}

function idOf({ name }: Slot, generation: number): string {
  return `${name}-${generation}`;
}
