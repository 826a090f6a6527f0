/** The calls of many runtimes at once, some of them killed. */

import { grantedAddresses } from "../../harness/network.ts";
import { type Random, randomFrom } from "../../harness/random.ts";
import type { JsonObject } from "../../harness/runtime-call.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireSuccess } from "./answers.ts";
import { FaultNetwork, FULL, type Verb } from "./network.ts";
import type { Ending } from "./running-call.ts";
import type { Attempt, Context, Scenario, Trial } from "./scenario.ts";
import { mixture, type Subject, subjects } from "./subject.ts";

/** The numbers of workers and of their calls; the portable executable is slow. */
const extents = {
  short: { workers: 8, hostBits: 3, calls: { quick: 150, slow: 40 } },
  full: { workers: 32, hostBits: 5, calls: { quick: 2000, slow: 250 } },
  exhaustive: { workers: 32, hostBits: 5, calls: { quick: 40_000, slow: 8000 } },
} as const;

/** How many attachments each worker has: together they need more addresses than there are. */
const SLOTS = 2;

/** How many calls there are for each one that is killed. */
const KILLED = 12;

/** How long a call takes among so many others, in milliseconds. */
const USUAL = { native: 200, portable: 2000, Go: 200 };

/** The time limit for the lock, and for a call, in seconds: enough for 32 processes on a few cores. */
const LOCK_TIMEOUT = 60;
const LIMIT = 100;

/** An attachment whose calls come from one worker, one at a time. */
interface Attachment {
  readonly id: string;
  /** The addresses that it holds; `undefined` after a call was killed. */
  holds: readonly string[] | undefined;
}

/**
 * An attachment certainly holds its addresses from the answer of its ADD to the beginning of its DEL. If two hold one address
 * at one moment, they were served twice.
 */
class Stress {
  readonly #network: FaultNetwork;
  readonly #verifier: Verifier;
  readonly #programs: readonly Subject[];
  readonly #random: Random;
  readonly #attachments: readonly Attachment[];
  readonly #capacity: number;
  /** The attachments that certainly hold an address. */
  readonly #holders = new Map<string, string>();
  /** How many attachments may hold addresses: from the beginning of an ADD to the end of a DEL. */
  #taken = 0;
  /** The last time at which there were fewer addresses than that. */
  #wasFull = 0;
  #count = 0;
  #killed = 0;

  constructor(trial: Trial, programs: readonly Subject[]) {
    const { extent, seed, verifier } = trial;
    const ipam = { ranges: rangesFor(trial), lockTimeoutSeconds: LOCK_TIMEOUT };
    this.#network = new FaultNetwork(trial, { ipam });
    this.#verifier = verifier;
    this.#programs = programs;
    this.#random = randomFrom(seed);
    this.#capacity = capacityOf(trial);
    this.#attachments = Array.from({ length: SLOTS * extents[extent].workers }, (_, at) => ({
      id: `c${at}`,
      holds: [],
    }));
  }

  get summary(): string {
    const names = this.#programs.map(({ name }) => name).join(", ");
    return `${names}: ${this.#count} calls, ${this.#killed} of them killed`;
  }

  /** Lets all workers work until so many calls have been made. */
  async work(calls: number): Promise<void> {
    const workers = Map.groupBy(this.#attachments, (_, at) => Math.floor(at / SLOTS));
    await Promise.all(
      [...workers.values()].map(async (own) => {
        while (this.#count < calls) await this.#step(this.#random.pick(own));
      }),
    );
  }

  /** Requires that living attachments have their addresses, and that every other address can be handed out, once. */
  async settle(): Promise<void> {
    const network = this.#network;
    const killed = this.#attachments.filter(({ holds }) => holds === undefined);
    await network.mustRelease(...killed.map(({ id }) => id));
    const alive = this.#attachments.filter(({ holds = [] }) => holds.length > 0);
    for (const { id, holds = [] } of alive) network.mustHold(id, holds);
    const late = await network.fill("late", this.#capacity - alive.length);
    await network.mustRelease(...alive.map(({ id }) => id), ...late.keys());
    network.mustBeEmpty();
  }

  async #step(attachment: Attachment): Promise<void> {
    if (attachment.holds?.length === 0) await this.#add(attachment);
    else if (attachment.holds === undefined || this.#random.chance(70)) await this.#del(attachment);
    else await this.#look(attachment);
  }

  async #add(attachment: Attachment): Promise<void> {
    const began = performance.now();
    this.#take(1);
    const ending = await this.#call("ADD", attachment.id);
    attachment.holds = ending && grantedAddresses(ending);
    if (ending === undefined) return;
    if (ending.exitCode === 0) this.#hold(attachment);
    else {
      const wasFull = this.#taken > this.#capacity || this.#wasFull >= began;
      const isRight = wasFull && ending.stdout.includes(FULL);
      if (!isRight) requireSuccess(this.#verifier, ending, `ADD ${attachment.id}`, "leak");
      this.#take(-1);
    }
  }

  async #del(attachment: Attachment): Promise<void> {
    for (const address of attachment.holds ?? []) this.#holders.delete(address);
    attachment.holds = undefined;
    const ending = await this.#call("DEL", attachment.id);
    if (ending === undefined) return;
    requireSuccess(this.#verifier, ending, `DEL ${attachment.id}`);
    this.#network.mustHoldNothing("leak", attachment.id);
    attachment.holds = [];
    this.#take(-1);
  }

  /** Makes a CHECK, which must find the attachment, or a GC that lists all, which must free none. */
  async #look({ id }: Attachment): Promise<void> {
    const verb = this.#random.chance(50) ? "CHECK" : "GC";
    const ending = await this.#call(verb, verb === "GC" ? "" : id);
    if (ending !== undefined) requireSuccess(this.#verifier, ending, `${verb} ${id}`);
  }

  #hold({ id, holds = [] }: Attachment): void {
    this.#verifier.require(holds.length === 2, "torn", `${id} got ${holds.join(" ")}`);
    for (const address of holds) {
      const others = [this.#holders.get(address) ?? [], id].flat();
      this.#verifier.require(others.length === 1, "double", `${address} is of ${others}`);
      this.#holders.set(address, id);
    }
  }

  #take(more: 1 | -1): void {
    if (this.#taken > this.#capacity) this.#wasFull = performance.now();
    this.#taken += more;
  }

  /** Makes one call; `undefined` if it was killed. */
  async #call(verb: Verb, id: string): Promise<Ending | undefined> {
    // The Go plugin's GC frees nothing, and leaves empty files if it is killed.
    const ours = this.#programs.filter(({ name }) => name !== "Go");
    const subject = this.#random.pick(verb === "GC" && ours.length > 0 ? ours : this.#programs);
    const alive = this.#attachments.map((attachment) => attachment.id);
    const running = this.#network.begin(verb, id, { subject, limit: LIMIT, alive });
    const isDoomed = this.#killed * KILLED < ++this.#count && subject.name !== "Go";
    // A kill comes as often early as late.
    const moment = USUAL[subject.name] / 2 ** this.#random.integer(7);
    const killer = isDoomed ? setTimeout(() => running.kill(), moment) : undefined;
    const ending = await running.ended;
    clearTimeout(killer);
    if (ending.signal === "SIGKILL" && !ending.isCutOff) {
      this.#killed++;
      return undefined;
    }
    return ending;
  }
}

/** How many attachments there is room for. */
function capacityOf({ extent }: Context): number {
  return 2 * (2 ** extents[extent].hostBits - 3);
}

/** A range set of two ranges, and a set of the other family with as many addresses. */
function rangesFor(context: Context): readonly (readonly JsonObject[])[] {
  const length = 32 - extents[context.extent].hostBits;
  const rangeEnd = `2001:db8::${(capacityOf(context) + 1).toString(16)}`;
  return [
    [{ subnet: `198.51.100.0/${length}` }, { subnet: `203.0.113.0/${length}` }],
    [{ subnet: "2001:db8::/64", rangeStart: "2001:db8::2", rangeEnd }],
  ];
}

async function stress(context: Context, programs: readonly Subject[]): Promise<Attempt> {
  const verifier = new Verifier();
  const workers = new Stress({ ...context, verifier }, programs);
  const speed = programs.some(({ name }) => name === "portable") ? "slow" : "quick";
  await workers.work(extents[context.extent].calls[speed]);
  await workers.settle();
  return { what: workers.summary, violations: verifier.violations };
}

const PROMISE =
  "no address has two holders at any moment. Live attachments keep their addresses, deleted ones have none";

export const stressScenarios: readonly Scenario[] = [
  {
    fault: "up to 32 workers with random calls on two range sets, 8 % of the processes killed",
    promise: PROMISE,
    attempt: async (context) => [await stress(context, [context.subject])],
  },
  {
    fault: "the same with all executables mixed on one data directory",
    promise: PROMISE,
    obstacle: () => (subjects.length > 1 ? undefined : "There is one executable only."),
    // All executables are mixed, but only ours are under test.
    attempt: async (context) =>
      context.subject.name === "Go" ? [] : [await stress(context, mixture(context))],
  },
];
