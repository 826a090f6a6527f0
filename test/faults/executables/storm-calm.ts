/** After a storm: every remaining address can be handed out, and all can be released. */

import type { Random } from "../../harness/random.ts";
import { attachmentCall } from "../../harness/runtime-call.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import type { Verifier } from "../../harness/violations.ts";
import { lineOf, type Operation } from "./storm-log.ts";
import { configurationOf, isOf, reservationsOf, type StormNetwork } from "./storm-network.ts";
import { StormProcesses } from "./storm-process.ts";
import type { StormVerifier } from "./storm-verifier.ts";
import type { Subject } from "./subject.ts";

/** How many calls at once. */
const AT_ONCE = 4;

/** Whether the reservation with this content may be another's from now on. */
type GivesWay = (content: string) => boolean;

/** A network after a storm. */
export class StormCalm {
  readonly #network: StormNetwork;
  readonly #directory: string;
  readonly #random: Random;
  readonly #programs: readonly Subject[];
  readonly #processes: StormProcesses;
  readonly #verifier: Verifier;
  #fillers = 0;

  constructor(
    network: StormNetwork,
    ground: {
      readonly directory: string;
      readonly random: Random;
      readonly programs: readonly Subject[];
    },
    verifier: Verifier,
  ) {
    this.#network = network;
    this.#directory = ground.directory;
    this.#random = ground.random;
    this.#programs = ground.programs;
    this.#processes = new StormProcesses(ground.random, 0);
    this.#verifier = verifier;
  }

  /** What runs the executables from now on, see `StormProcesses`. */
  enter(under: readonly string[]): void {
    this.#processes.enter(under);
  }

  /** Checks all live attachments, fills the network, and empties it. */
  async decide({ histories }: StormVerifier): Promise<void> {
    const fillers = await this.checkAndFill(histories);
    await this.empty(histories, fillers);
  }

  /**
   * Checks all live attachments, and hands out each address that is left.
   *
   * @param givesWay whether a reservation is from before a boot, and may be another's from now on
   * @returns the new attachments
   */
  async checkAndFill(
    histories: StormVerifier["histories"],
    givesWay: GivesWay = () => false,
  ): Promise<readonly string[]> {
    const alive = [...histories.values()].filter(({ end }) => end.kind === "held");
    await sideBySide(alive, AT_ONCE, async ({ attachment }) => {
      this.#mustWork(await this.#run("CHECK", attachment), "refused");
    });
    return this.fill(givesWay);
  }

  /** Deletes all attachments. */
  async empty(histories: StormVerifier["histories"], fillers: readonly string[]): Promise<void> {
    const rest = [...histories.values()].filter(({ end }) => end.kind !== "absent");
    const all = [...fillers, ...rest.map(({ attachment }) => attachment)];
    await sideBySide(all, AT_ONCE, async (attachment) => {
      this.#mustWork(await this.#run("DEL", attachment), "refused");
    });
    for (const [address, content] of this.#files()) {
      this.#require(
        content === "",
        "leak",
        `${address} of ${JSON.stringify(content)} is left after its DEL`,
      );
    }
  }

  /**
   * Hands out each address that is left, exactly once.
   *
   * @param givesWay as of `checkAndFill`
   * @param must whether all that gives way must be handed out, too
   */
  async fill(givesWay: GivesWay, must = false): Promise<readonly string[]> {
    const before = this.#files();
    const granted = new Set<string>();
    const fillers: string[] = [];
    for (;;) {
      const filler = `filler-${this.#fillers++}`;
      const added = await this.#run("ADD", filler);
      fillers.push(filler);
      if (added.answer !== "done") {
        const isFull = added.text.includes("no IP addresses available");
        this.#require(isFull, "refused", lineOf(added));
        break;
      }
      for (const address of added.addresses) {
        const content = before.get(address);
        const wasFree = content === undefined || content === "" || givesWay(content);
        const isNew = wasFree && !granted.has(address);
        this.#require(isNew, "double", `${address} was taken, ${lineOf(added)}`);
        granted.add(address);
      }
    }
    const served = fillers.length - 1;
    const { least, most } = this.#room(before, givesWay, must);
    const detail = `${served} ADDs served where there was room for ${least}`;
    this.#require(served >= least, "leak", detail);
    this.#require(served <= most, "double", detail);
    return fillers;
  }

  /** How many addresses can be handed out; an empty file may be reused once it is old enough. */
  #room(
    files: ReadonlyMap<string, string>,
    givesWay: GivesWay,
    must: boolean,
  ): { readonly least: number; readonly most: number } {
    const left = (isCounted: (content: string) => boolean): number =>
      Math.min(
        ...this.#network.sets.map((set) => {
          const taken = [...files].filter(([one, content]) => isOf(set, one) && isCounted(content));
          return set.capacity - taken.length;
        }),
      );
    return {
      least: left((content) => !must || !givesWay(content)),
      most: left((content) => content !== "" && !givesWay(content)),
    };
  }

  #run(verb: "ADD" | "DEL" | "CHECK", attachment: string): Promise<Operation> {
    const { name } = this.#network;
    const program = this.#random.pick(this.#programs);
    const configuration = configurationOf(this.#network, this.#directory, program.cniVersion);
    const call = attachmentCall(verb, { containerId: attachment }, configuration);
    return this.#processes.run(program, {
      network: name,
      verb,
      attachment,
      valid: undefined,
      call,
    });
  }

  #files(): ReadonlyMap<string, string> {
    return reservationsOf(this.#network, this.#directory);
  }

  #mustWork(operation: Operation, kind: "refused"): void {
    this.#require(operation.answer === "done", kind, lineOf(operation));
  }

  #require(holds: boolean, kind: "leak" | "double" | "refused", detail: string): void {
    this.#verifier.require(holds, kind, `${this.#network.name}, afterwards: ${detail}`);
  }
}
