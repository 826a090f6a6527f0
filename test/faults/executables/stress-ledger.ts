/** What the answers of a stress say about a network, and whether they agree with each other and with the disk. */

import { readError } from "../../harness/printed-error.ts";
import type { Kind, Verifier } from "../../harness/violations.ts";
import { isOf, type StressNetwork } from "./stress-networks.ts";

/** A call for a network. */
export interface StressCall {
  readonly verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS";
  readonly program: string;
  /** The container id; empty where the call is for none. */
  readonly attachment: string;
  /** The container ids that a GC gets as valid. */
  readonly valid?: ReadonlySet<string>;
}

/** How a call ended. */
export interface StressAnswer {
  /** `killed` by the stress; `crashed` by itself; `hung` where it did not end in time. */
  readonly kind: "done" | "refused" | "killed" | "crashed" | "hung";
  /** What an ADD granted; also one that was killed when its result was out already. */
  readonly addresses: readonly string[];
  /** What it printed. */
  readonly text: string;
}

/** What an attachment holds according to the answers; unknown after a kill, and after a boot, in which nothing lives on. */
type Holding =
  | { readonly kind: "absent" }
  | { readonly kind: "held"; readonly addresses: readonly string[] }
  | { readonly kind: "unknown"; readonly isEarlier: boolean };

/** A call that runs. */
export interface RunningStressCall extends StressCall {
  readonly began: number;
  /** What its attachment held when it began. */
  readonly holding: Holding;
  /** The dead attachments that it frees: those that a GC does not list. */
  readonly frees: readonly string[];
  /** How many attachments may have held addresses at any moment since then. */
  peak: number;
}

const ABSENT: Holding = { kind: "absent" };

/** As many lines of the log are quoted. */
const QUOTED = 30;

/**
 * The ledger of one network, kept while calls run: a runtime makes one call for an attachment at a time. An attachment
 * holds its addresses for certain from the answer of its ADD to the beginning of its release; so two that hold one
 * address at a moment were served so.
 */
export class StressLedger {
  readonly #network: StressNetwork;
  readonly #verifier: Verifier;
  readonly #attachments = new Set<string>();
  /** What is not absent. */
  readonly #holdings = new Map<string, Holding>();
  /** Who holds an address for certain. */
  readonly #holders = new Map<string, string>();
  /** Attachments that may hold addresses: from the beginning of an ADD to the end of a release. */
  readonly #mayHold = new Set<string>();
  /** Whose container disappeared without a DEL. */
  readonly #dead = new Set<string>();
  readonly #running = new Set<RunningStressCall>();
  /** How many empty files the Go plugin has left at most: it does where it is killed. */
  #emptyFiles = 0;
  readonly #log: string[] = [];

  constructor(network: StressNetwork, verifier: Verifier) {
    this.#network = network;
    this.#verifier = verifier;
  }

  holdingOf(attachment: string): Holding {
    return this.#holdings.get(attachment) ?? ABSENT;
  }

  /** The attachments that hold something, or may: those whose holding is of a kind. */
  attachmentsOf(kind: "held" | "unknown"): readonly string[] {
    return [...this.#holdings].filter(([, one]) => one.kind === kind).map(([name]) => name);
  }

  /** A call begins; `end` tells how it ended. */
  begin(call: StressCall): RunningStressCall {
    const { verb, attachment, valid } = call;
    const holding = this.holdingOf(attachment);
    const frees = [...this.#dead].filter((one) => valid?.has(one) === false);
    const running = { ...call, began: performance.now(), holding, frees, peak: 0 };
    this.#running.add(running);
    if (attachment !== "") this.#attachments.add(attachment);
    if (verb === "DEL") this.#mayLose(attachment);
    for (const one of frees) this.#mayLose(one);
    if (verb === "ADD") this.#mayHold.add(attachment);
    this.#notePeak();
    return running;
  }

  end(running: RunningStressCall, answer: StressAnswer): void {
    this.#running.delete(running);
    this.#log.push(lineOf(running, answer));
    const fault = this.#faultOf(running, answer);
    if (fault !== undefined) {
      this.#accuse(fault, lineOf(running, answer), running.attachment, ...answer.addresses);
    }
    const isDone = answer.kind === "done";
    if (running.verb === "ADD") this.#add(running, answer);
    if (running.verb === "DEL" && isDone) this.#free(running.attachment);
    if (running.verb === "GC" && isDone) for (const one of running.frees) this.#free(one);
  }

  /** The container disappears without a DEL: it holds its addresses until a GC does not list it. */
  die(attachment: string): void {
    if (this.#mayHold.has(attachment)) this.#dead.add(attachment);
  }

  /** The machine boots, while no call runs: what attachments held may stay, or be reclaimed. */
  boot(): void {
    for (const one of this.#holdings.keys()) {
      this.#holdings.set(one, { kind: "unknown", isEarlier: true });
    }
    this.#holders.clear();
  }

  /**
   * The files are those that the answers promise.
   *
   * @param files the content of each reservation by its address
   * @param empty what an empty file is to be called; `undefined` where it may be there
   */
  verifyFiles(files: ReadonlyMap<string, string>, empty: Kind | undefined): void {
    const found = Map.groupBy(files.keys(), (address) => files.get(address) ?? "");
    for (const [content, addresses] of found) {
      const [attachment = "", interfaceName] = content.split("\r\n");
      const fault = content === "" ? empty : "torn";
      const isWhole = interfaceName === "eth0" && this.#attachments.has(attachment);
      if (isWhole || fault === undefined) continue;
      this.#accuse(fault, `${addresses} says ${JSON.stringify(content)}`, ...addresses);
    }
    for (const attachment of this.#attachments) {
      const own = found.get(`${attachment}\r\neth0`) ?? [];
      const holding = this.holdingOf(attachment);
      const fault = this.#faultOfHolding(holding, own);
      if (fault === undefined) continue;
      const promised = holding.kind === "held" ? holding.addresses.join(" ") : holding.kind;
      this.#accuse(
        fault,
        `${attachment} has [${own.join(" ")}], promised: ${promised}`,
        attachment,
      );
    }
  }

  #add({ attachment, holding, program }: RunningStressCall, answer: StressAnswer): void {
    // A repeated ADD does not change what its attachment holds, however it ends.
    if (holding.kind === "held") return;
    if (answer.addresses.length > 0) this.#hold(attachment, answer.addresses);
    else if (answer.kind !== "refused") {
      const isEarlier = holding.kind === "unknown" && holding.isEarlier;
      this.#holdings.set(attachment, { kind: "unknown", isEarlier });
      if (program === "Go") this.#emptyFiles++;
    } else if (holding.kind === "absent") this.#mayHold.delete(attachment);
    this.#notePeak();
  }

  #hold(attachment: string, addresses: readonly string[]): void {
    this.#holdings.set(attachment, { kind: "held", addresses });
    for (const address of addresses) {
      const other = this.#holders.get(address);
      if (other !== undefined) {
        const detail = `${address} is held by ${other} and ${attachment}`;
        this.#accuse("double", detail, address, other, attachment);
      }
      this.#holders.set(address, attachment);
    }
  }

  /** A release of an attachment begins. */
  #mayLose(attachment: string): void {
    const holding = this.holdingOf(attachment);
    if (holding.kind !== "held") return;
    for (const address of holding.addresses) {
      if (this.#holders.get(address) === attachment) this.#holders.delete(address);
    }
    this.#holdings.set(attachment, { kind: "unknown", isEarlier: false });
  }

  #free(attachment: string): void {
    this.#holdings.delete(attachment);
    this.#mayHold.delete(attachment);
    this.#dead.delete(attachment);
  }

  /** An upper bound for what is taken: who may hold an address counts as one who does. */
  #notePeak(): void {
    const count = this.#mayHold.size + this.#emptyFiles;
    for (const running of this.#running) running.peak = Math.max(running.peak, count);
  }

  /** What is wrong with an answer; `undefined` where it is possible after those before it. */
  #faultOf(running: RunningStressCall, answer: StressAnswer): Kind | undefined {
    const { verb, holding } = running;
    switch (answer.kind) {
      case "killed":
        return this.#faultOfGrant(answer.addresses);
      case "crashed":
        return "crash";
      case "hung":
        return "hang";
      case "refused":
        return this.#faultOfRefusal(running, answer.text);
      case "done":
        if (verb === "CHECK" && holding.kind === "absent") return "accepted";
        if (verb !== "ADD") return undefined;
        return holding.kind === "held"
          ? this.#faultOfRepetition(holding.addresses, answer.addresses)
          : this.#faultOfGrant(answer.addresses);
    }
  }

  #faultOfRefusal({ verb, holding, peak }: RunningStressCall, text: string): Kind | undefined {
    const error = readError(text);
    if (error === undefined) return "mute";
    const isFull =
      error.msg.includes("no IP addresses available") &&
      this.#network.sets.some(({ capacity }) => peak >= capacity);
    if (verb === "STATUS") return isFull && error.code === 50 ? undefined : "refused";
    if (verb === "CHECK") return holding.kind === "held" ? "refused" : undefined;
    if (verb === "DEL" || verb === "GC") return "refused";
    if (isFull) return undefined;
    if (!error.msg.includes("duplicate allocation")) return "refused";
    return holding.kind === "absent" ? "leak" : undefined;
  }

  /** An ADD of one that lives gets the same answer or an error, as the network is configured. */
  #faultOfRepetition(held: readonly string[], granted: readonly string[]): Kind | undefined {
    const isSame = `${held}` === `${granted}`;
    return isSame && this.#network.ipam?.repeatedAdd === "same" ? undefined : "accepted";
  }

  /** An ADD grants one address of each set. */
  #faultOfGrant(addresses: readonly string[]): Kind | undefined {
    if (addresses.length === 0) return undefined;
    const { sets } = this.#network;
    const isComplete =
      addresses.length === sets.length &&
      sets.every((set) => addresses.filter((address) => isOf(set, address)).length === 1);
    return isComplete ? undefined : "torn";
  }

  #faultOfHolding(holding: Holding, found: readonly string[]): Kind | undefined {
    switch (holding.kind) {
      case "absent":
        return found.length === 0 ? undefined : "leak";
      case "held":
        if (holding.addresses.some((address) => !found.includes(address))) return "double";
        return found.length === holding.addresses.length ? undefined : "leak";
      case "unknown": {
        const isOnePerSet = this.#network.sets.every(
          (set) => found.filter((address) => isOf(set, address)).length <= 1,
        );
        return isOnePerSet ? undefined : "double";
      }
    }
  }

  /** With the last calls that had to do with any of these words. */
  #accuse(kind: Kind, detail: string, ...words: readonly string[]): void {
    const lines = this.#log.filter((line) => words.some((word) => mentions(line, word)));
    const excerpt = lines.slice(-QUOTED).join("\n");
    this.#verifier.require(false, kind, `${this.#network.name}: ${detail}\n${excerpt}`);
  }
}

function mentions(line: string, word: string): boolean {
  return word !== "" && ` ${line} `.includes(` ${word} `);
}

/** A call in a line. */
function lineOf(
  { verb, program, attachment, began, frees }: RunningStressCall,
  { kind, addresses, text }: StressAnswer,
): string {
  const times = `${began.toFixed(1)} to ${performance.now().toFixed(1)}`;
  const said = addresses.length > 0 ? addresses.join(" ") : text.replace(/\s+/g, " ").slice(0, 300);
  const whom = verb === "GC" ? frees.join(" ") : attachment;
  return `  ${times} ${program} ${verb} ${whom} ${kind} ${said}`;
}
