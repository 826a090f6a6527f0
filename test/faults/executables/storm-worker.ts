/** What one worker of a storm does: random calls for attachments of its own, one at a time. */

import type { Random } from "../../harness/random.ts";
import { type Attachment, attachmentCall, networkCall } from "../../harness/runtime-call.ts";
import type { Operation } from "./storm-log.ts";
import { configurationOf, type StormNetwork } from "./storm-network.ts";
import type { Plan, StormProcesses } from "./storm-process.ts";
import { knowsStatus, type Subject } from "./subject.ts";

/** How many attachments a worker has in each network: together they need more addresses than there are. */
const SLOTS = 2;

/** A GC lists the containers that come next in a slot, too, since they may be added while it runs. */
const LISTED_AHEAD = 3;

/** The percentage of calls, after a boot, that are a DEL for the container before the present one of a slot. */
const LATE = 5;

/** A place for one container after the other. */
interface Slot {
  readonly network: StormNetwork;
  readonly name: string;
  generation: number;
  /** As far as its worker knows; `returning` where the container starts again after a boot. */
  state: "absent" | "held" | "unknown" | "returning";
}

/** What the workers of a storm share. */
export interface StormGround {
  readonly directory: string;
  readonly networks: readonly StormNetwork[];
  readonly programs: readonly Subject[];
  readonly processes: StormProcesses;
  readonly random: Random;
}

/** All workers of a storm. */
export class StormWorkers {
  readonly #ground: StormGround;
  readonly #workers: readonly (readonly Slot[])[];
  readonly #ours: readonly Subject[];
  readonly #withStatus: readonly Subject[];
  #hasBooted = false;
  readonly log: Operation[] = [];

  constructor(ground: StormGround, count: number) {
    this.#ground = ground;
    this.#ours = ground.programs.filter(({ name }) => name !== "Go");
    this.#withStatus = ground.programs.filter(knowsStatus);
    this.#workers = Array.from({ length: count }, (_, worker) =>
      ground.networks.flatMap((network) =>
        Array.from(
          { length: SLOTS },
          (_, slot): Slot => ({
            network,
            name: `worker${worker}-slot${slot}`,
            generation: 0,
            state: "absent",
          }),
        ),
      ),
    );
  }

  /** Lets all of them work, for a time in milliseconds. */
  async work(duration: number): Promise<void> {
    const deadline = performance.now() + duration;
    await this.#workWhile(() => performance.now() < deadline);
  }

  /** Lets all of them work until some calls have ended; those that still run then are killed, if `ends` says so. */
  async workFor(calls: number, ends: "regularly" | "killed"): Promise<void> {
    const enough = this.log.length + calls;
    const isEnough = (): boolean => this.log.length >= enough;
    await this.#workWhile(() => !isEnough(), ends === "killed" ? isEnough : undefined);
  }

  /** The machine boots: no container lives on, and some of them start again. */
  boot(): void {
    this.#hasBooted = true;
    for (const slot of this.#workers.flat()) {
      if (slot.state === "absent") continue;
      if (this.#ground.random.chance(50)) slot.state = "returning";
      else this.#die(slot);
    }
  }

  async #workWhile(goesOn: () => boolean, killsAll: () => boolean = () => false): Promise<void> {
    await Promise.all(
      this.#workers.map(async (slots) => {
        while (goesOn()) {
          await this.#step(slots);
          if (killsAll()) this.#ground.processes.killAll();
        }
      }),
    );
  }

  async #step(slots: readonly Slot[]): Promise<void> {
    const { random } = this.#ground;
    const slot = random.pick(slots);
    if (this.#hasBooted && slot.generation > 0 && random.chance(LATE)) {
      await this.#run((program) => this.#plan(slot, "DEL", program, slot.generation - 1));
      return;
    }
    const kind = random.integer(100);
    if (kind < 4 && this.#withStatus.length > 0) {
      await this.#run((program) => this.#askStatus(slot.network, program), this.#withStatus);
    } else if (kind < 7 && this.#ours.length > 0) {
      await this.#run((program) => this.#collect(slot.network, program), this.#ours);
    } else await this.#attend(slot, random.integer(100));
  }

  async #attend(slot: Slot, choice: number): Promise<void> {
    switch (slot.state) {
      case "absent":
        if (choice < 80) await this.#change(slot, "ADD");
        else await this.#attach(slot, choice < 90 ? "CHECK" : "DEL");
        break;
      case "held":
        if (choice < 50) await this.#change(slot, "DEL");
        else if (choice < 75) await this.#attach(slot, "CHECK");
        else if (choice < 85) await this.#addAgain(slot);
        else this.#die(slot);
        break;
      case "returning":
        if (choice < 70) await this.#addAgain(slot);
        else if (choice < 90) await this.#change(slot, "DEL");
        else this.#die(slot);
        break;
      case "unknown":
        if (choice < 75) await this.#change(slot, "DEL");
        else if (choice < 90) await this.#addAgain(slot);
        else this.#die(slot);
    }
  }

  async #change(slot: Slot, verb: "ADD" | "DEL", programs?: readonly Subject[]): Promise<void> {
    const { answer, addresses } = await this.#attach(slot, verb, programs);
    if (verb === "ADD" && addresses.length > 0) slot.state = "held";
    else if (verb === "DEL" && answer === "done") slot.state = "absent";
    else if (answer !== "refused" && slot.state !== "held") slot.state = "unknown";
    else if (verb === "DEL") slot.state = "unknown";
  }

  /** Not by the Go plugin: where that refuses the second ADD, it frees what the first one got. */
  async #addAgain(slot: Slot): Promise<void> {
    if (this.#ours.length > 0) await this.#change(slot, "ADD", this.#ours);
  }

  /** The container disappears without a DEL, until the next GC. The Go plugin has no GC. */
  #die(slot: Slot): void {
    if (this.#ours.length === 0) return;
    slot.generation++;
    slot.state = "absent";
  }

  #attach(
    slot: Slot,
    verb: "ADD" | "DEL" | "CHECK",
    programs?: readonly Subject[],
  ): Promise<Operation> {
    return this.#run((program) => this.#plan(slot, verb, program), programs);
  }

  async #run(
    planFor: (program: Subject) => Plan,
    programs = this.#ground.programs,
  ): Promise<Operation> {
    const { random, processes } = this.#ground;
    const program = random.pick(programs);
    const operation = await processes.run(program, planFor(program));
    this.log.push(operation);
    return operation;
  }

  #plan(
    slot: Slot,
    verb: "ADD" | "DEL" | "CHECK",
    { cniVersion }: Subject,
    generation = slot.generation,
  ): Plan {
    const { network } = slot;
    const attachment: Attachment = { containerId: idOf(slot, generation) };
    const configuration = configurationOf(network, this.#ground.directory, cniVersion);
    const call = attachmentCall(verb, attachment, configuration);
    return {
      network: network.name,
      verb,
      attachment: attachment.containerId,
      valid: undefined,
      call,
    };
  }

  #askStatus(network: StormNetwork, { cniVersion }: Subject): Plan {
    const configuration = configurationOf(network, this.#ground.directory, cniVersion);
    const call = networkCall("STATUS", configuration);
    return { network: network.name, verb: "STATUS", attachment: undefined, valid: undefined, call };
  }

  /** Lists all but the dead; after a boot also those, in most cases, since a runtime's cache survives it. */
  #collect(network: StormNetwork, { cniVersion }: Subject): Plan {
    const slots = this.#workers.flat().filter((slot) => slot.network === network);
    const listsDead = this.#hasBooted && this.#ground.random.chance(80);
    const ids = slots.flatMap((slot) => {
      const first = listsDead ? 0 : slot.generation;
      const length = slot.generation - first + LISTED_AHEAD;
      return Array.from({ length }, (_, at) => idOf(slot, first + at));
    });
    const list = ids.map((containerID) => ({ containerID, ifname: "eth0" }));
    const top = { "cni.dev/valid-attachments": list };
    const call = networkCall(
      "GC",
      configurationOf(network, this.#ground.directory, cniVersion, top),
    );
    return {
      network: network.name,
      verb: "GC",
      attachment: undefined,
      valid: new Set(ids),
      call,
    };
  }
}

function idOf({ name }: Slot, generation: number): string {
  return `${name}-${generation}`;
}
