/**
 * Every order of the system calls of processes that run at once, with everything that may happen to them.
 *
 * The search visits states, not schedules. A state is the machine and, for each process, the answers that it has had. A process
 * is deterministic in these (`process.ts`), so equal states have equal futures, and each is expanded once. This leaves out no
 * schedule. Schedules are counted by adding, at each state, those of the states that follow.
 *
 * One thing is left out: if a process is about to make a call that no other process can influence or see (it reads the boot id,
 * it writes its answer), only that process goes on. Such a call commutes with every other, it stays possible whatever others
 * do, and no rule looks at the state between; so it is a persistent set of its own.
 *
 * The search assumes that the clock of the file system does not advance within a schedule, which hides the most; that the
 * number of a removed file is used again at once; and that a call that waits for the lock waits until it is free, unless it is
 * late.
 */

import { LockTimeout, SystemError } from "../../src/system/system.ts";
import { DATA_DIRECTORY } from "../harness/memory-machine.ts";
import { type End, type Program, runAnswered, type Standing } from "./process.ts";
import {
  clockIn,
  type Made,
  type Operation,
  type Reply,
  textOfReply,
  type World,
  type Worlds,
} from "./world.ts";

/** The events besides system calls. */
export type Fault =
  | "killed"
  | "error"
  | "done, but error"
  /** The error comes at every later call, or at every later call of the same kind. */
  | "error for good"
  | "error at all of a kind"
  | "late"
  | "boot"
  | "no lock file"
  | "no .host-local";

/** Processes that run one after another, as a runtime starts them. */
export type Thread = readonly Program[];

/** The beginning of a search. */
export interface Scene {
  readonly worlds: Worlds;
  readonly start: World;
  readonly threads: readonly Thread[];
  /** Whether the machine has booted just before. */
  readonly hasBooted: boolean;
  /** The faults that may happen, once in a schedule. */
  readonly faults: readonly Fault[];
  /** Errors at calls that change something, and at others. */
  readonly codes: { readonly changes: readonly string[]; readonly reads: readonly string[] };
}

/** The end of a thread's process; without `end` it was killed. */
export interface Outcome {
  readonly program: Program;
  readonly end: End | undefined;
}

/** The position of a thread. */
interface Place {
  readonly id: number;
  readonly thread: Thread;
  /** The number of its process. */
  readonly number: number;
  /** The time at which it runs, in milliseconds. */
  readonly time: number;
  readonly outcomes: readonly Outcome[];
  /** The outcomes as text. */
  readonly ends: string;
  /** Whether a boot has ended the thread. */
  readonly isBeforeBoot?: boolean;
  /** The log of its process; `undefined` at the thread's end. */
  readonly log: Log | undefined;
}

/** The answers that a process has had, and the position to which they bring it. */
interface Log {
  readonly id: number;
  /** The log to which a reply was added; `undefined` for a log without replies. */
  readonly before: { readonly log: Log; readonly reply: Reply } | undefined;
  readonly standing: Standing;
  readonly next: Map<string, Log>;
}

/** The machine on which a process goes on, and the calls that are refused there. */
type Surroundings = Pick<State, "world" | "refused">;

/** The state of the machine and of all threads. */
export interface State {
  readonly world: World;
  readonly places: readonly Place[];
  /** Whether nothing has happened yet. */
  readonly isCalm: boolean;
  readonly hasBooted: boolean;
  /** The calls that are refused from now on; without `word`, all. */
  readonly refused?: { readonly code: string; readonly word?: string } | undefined;
}

/** An event of a schedule. */
export interface Step {
  readonly state: State;
  /** The process; `undefined` if it happens to the machine. */
  readonly number: number | undefined;
  readonly program: Program | undefined;
  readonly operation: Operation | undefined;
  readonly reply: Reply | undefined;
  readonly fault: Fault | undefined;
}

/** A schedule, and the rules that it breaks, in words. */
export interface Violation {
  readonly steps: readonly Step[];
  readonly broken: readonly string[];
}

/** The numbers of a search. */
export interface Counts {
  states: number;
  schedules: number;
}

/** The path to which a process writes its answer; such a write may only be refused with EPIPE. */
const STDOUT = "/dev/stdout";

/** A search from a scene. */
export class Search {
  readonly scene: Scene;
  readonly counts: Counts = { states: 0, schedules: 0 };
  readonly #places = new Map<string, Place>();
  readonly #roots = new Map<number, Log>();
  #lastLog = 0;
  /** Whether a runtime changes the network namespaces. */
  readonly #hasRuntime: boolean;

  constructor(scene: Scene) {
    this.scene = scene;
    this.#hasRuntime = scene.threads.flat().some(({ verb }) => verb === "runtime");
  }

  /** The state before anything has happened. */
  #first(): State {
    const { start, threads, hasBooted } = this.scene;
    const time = clockIn(start);
    const places = threads.map((thread, at) =>
      this.#begin(
        { thread, number: 100 * (at + 1), time, outcomes: [], ends: "" },
        { world: start },
      ),
    );
    return { world: start, places, isCalm: true, hasBooted };
  }

  /**
   * Visits every state, and asks `judge` once about each end.
   *
   * @returns the first schedule with an end that breaks a rule
   */
  run(judge: (end: State) => readonly string[]): Violation | undefined {
    const known = new Map<string, number>();
    const path: Step[] = [];
    let broken: readonly string[] = [];
    const visit = (state: State): number => {
      const key = keyOf(state);
      const found = known.get(key);
      if (found !== undefined) return found;
      const steps = this.#stepsFrom(state);
      let schedules = 0;
      if (steps.length === 0) {
        broken = judge(state);
        if (broken.length > 0) return -1;
        schedules = 1;
      }
      for (const step of steps) {
        path.push(step);
        const more = visit(step.state);
        if (more < 0) return -1;
        path.pop();
        schedules += more;
      }
      known.set(key, schedules);
      return schedules;
    };
    this.counts.schedules = visit(this.#first());
    this.counts.states = known.size;
    return broken.length > 0 ? { steps: path, broken } : undefined;
  }

  /** The shortest schedule with an end that breaks a rule. */
  shortest(judge: (end: State) => readonly string[]): Violation | undefined {
    const first = this.#first();
    const known = new Set([keyOf(first)]);
    const queue: { readonly state: State; readonly step?: Step; readonly before?: number }[] = [
      { state: first },
    ];
    for (let at = 0; at < queue.length; at++) {
      const { state } = queue[at] as { state: State };
      const steps = this.#stepsFrom(state);
      if (steps.length === 0) {
        const broken = judge(state);
        if (broken.length > 0) return { steps: stepsTo(queue, at), broken };
      }
      for (const step of steps) {
        const key = keyOf(step.state);
        if (known.has(key)) continue;
        known.add(key);
        queue.push({ state: step.state, step, before: at });
      }
    }
    return undefined;
  }

  /** Everything that may happen next; nothing at an end. */
  #stepsFrom(state: State): readonly Step[] {
    const steps: Step[] = [];
    const { places } = state;
    const own = places.findIndex(({ log }) => this.#isOwn(log?.standing.next));
    if (own >= 0) {
      this.#stepsOf(state, own, steps);
      return steps;
    }
    for (const at of places.keys()) this.#stepsOf(state, at, steps);
    if (places.some(({ log }) => log !== undefined)) this.#happenings(state, steps);
    return steps;
  }

  /** Whether no other process can influence or see a call. */
  #isOwn(next: Operation | undefined): boolean {
    return next?.reach === "own" || (next?.reach === "kernel" && !this.#hasRuntime);
  }

  #stepsOf(state: State, at: number, steps: Step[]): void {
    const { world, places, isCalm } = state;
    const place = places[at];
    const next = place?.log?.standing.next;
    if (place === undefined || next === undefined) return;
    const { worlds, faults, codes } = this.scene;
    const program = place.thread[place.outcomes.length];
    const push = (after: Surroundings, reply?: Reply, fault?: Fault): void => {
      const there =
        reply === undefined
          ? this.#after(place, undefined, after)
          : this.#answered(place, reply, after);
      const moved = { ...state, ...after, places: places.with(at, there) };
      const then = fault === undefined ? moved : { ...moved, isCalm: false };
      steps.push({ state: then, number: place.number, program, operation: next, reply, fault });
    };
    const isAnswer = next.path === STDOUT;
    const { refused } = state;
    const add = (after: World, reply: Reply, fault?: Fault): void =>
      push({ world: after, refused }, reply, fault);
    const made = this.#made(state, program, next);
    if (!made.waits) add(made.world, made.reply);
    if (!isCalm) return;
    if (faults.includes("killed") && (!this.#isOwn(next) || isAnswer)) {
      push({ world: worlds.release(world, place.number), refused }, undefined, "killed");
    }
    if (made.waits) {
      if (faults.includes("late"))
        add(world, { error: new LockTimeout(next.path, undefined) }, "late");
      return;
    }
    if (!mayFail(program, next)) return;
    const all = isAnswer ? ["EPIPE"] : next.reach === "changes" ? codes.changes : codes.reads;
    const special = next.word === "link" ? ["EPERM", "EXDEV"] : [];
    if (faults.includes("error")) {
      for (const code of [...all, ...special]) {
        if (made.reply.error instanceof SystemError && made.reply.error.code === code) continue;
        add(world, refusal(next, code), "error");
      }
    }
    for (const fault of ["error for good", "error at all of a kind"] as const) {
      if (!faults.includes(fault) || isAnswer) continue;
      for (const code of all) {
        const word = fault === "error for good" ? {} : { word: next.word };
        push({ world, refused: { code, ...word } }, refusal(next, code), fault);
      }
    }
    if (faults.includes("done, but error") && made.world !== world && next.word !== "flock") {
      // The call seemed to fail, so the process has no descriptor of the opened file.
      const after =
        next.opens === undefined
          ? made.world
          : worlds.change(made.world, ({ disk }) => disk.close(place.number, next.opens));
      for (const code of next.word === "link" ? ["EIO", "EEXIST"] : ["EIO"]) {
        add(after, refusal(next, code), "done, but error");
      }
    }
  }

  #happenings(state: State, steps: Step[]): void {
    const { faults, worlds } = this.scene;
    const { world, places, isCalm } = state;
    if (!isCalm) return;
    const add = (fault: Fault, after: World, moved: readonly Place[] = places): void => {
      if (after === world && moved === places) return;
      const hasBooted = state.hasBooted || fault === "boot";
      steps.push({
        state: { world: after, places: moved, isCalm: false, hasBooted },
        number: undefined,
        program: undefined,
        operation: undefined,
        reply: undefined,
        fault,
      });
    };
    if (faults.includes("no lock file")) {
      add(
        "no lock file",
        worlds.change(world, ({ disk }) => disk.removeAll(`${DATA_DIRECTORY}/net/lock`)),
      );
    }
    if (faults.includes("no .host-local")) {
      add(
        "no .host-local",
        worlds.change(world, ({ disk }) => disk.removeAll(`${DATA_DIRECTORY}/.host-local`)),
      );
    }
    if (faults.includes("boot") && !state.hasBooted) {
      const ended = places.map((place) => this.#ended(place));
      add("boot", worlds.later(world, 60_000, 1), ended);
    }
  }

  /** The thread after all its processes were killed at once, which does not go on. */
  #ended(place: Place): Place {
    const running = place.thread[place.outcomes.length];
    const outcomes =
      running === undefined
        ? place.outcomes
        : [...place.outcomes, { program: running, end: undefined }];
    return this.#place({ ...place, outcomes, isBeforeBoot: true, log: undefined });
  }

  /** The result of a system call in the world of a state, or its refusal there. */
  #made({ world, refused }: Surroundings, program: Program | undefined, next: Operation): Made {
    const isRefused =
      refused !== undefined &&
      mayFail(program, next) &&
      next.path !== STDOUT &&
      (refused.word ?? next.word) === next.word;
    if (!isRefused) return this.scene.worlds.make(world, next);
    return { world, reply: refusal(next, refused.code), waits: false };
  }

  /** A thread at the beginning of a process. */
  #begin(place: Omit<Place, "id" | "log">, around: Surroundings): Place {
    const { thread, number, outcomes } = place;
    const program = thread[outcomes.length];
    if (program === undefined) return this.#place({ ...place, log: undefined });
    const log = this.#roots.get(number) ?? this.#run(program, place, undefined, around);
    this.#roots.set(number, log);
    return this.#beyondEnd(this.#place({ ...place, log }), around);
  }

  /** A thread whose process has ended, at the beginning of the next. */
  #after(place: Place, end: End | undefined, around: Surroundings): Place {
    const program = place.thread[place.outcomes.length] as Program;
    const outcomes = [...place.outcomes, { program, end }];
    const ends = `${place.ends}${end?.exitCode} ${end?.stdout}${end?.stderr}\n`;
    return this.#begin({ ...place, number: place.number + 1, outcomes, ends }, around);
  }

  #answered(place: Place, reply: Reply, around: Surroundings): Place {
    const before = place.log as Log;
    let log = before.next.get(textOfReply(reply));
    if (log === undefined) {
      const program = place.thread[place.outcomes.length] as Program;
      log = this.#run(program, place, { log: before, reply }, around);
    }
    return this.#beyondEnd(this.#place({ ...place, log }), around);
  }

  #beyondEnd(place: Place, around: Surroundings): Place {
    const end = place.log?.standing.end;
    return end === undefined ? place : this.#after(place, end, around);
  }

  /**
   * The log of a process with one more reply than before. The process runs on by itself until it has to wait. The search
   * follows the same path later, and finds each log of it; a separate run for each would begin with the first call.
   */
  #run(
    program: Program,
    { number, time }: Pick<Place, "number" | "time">,
    before: Log["before"],
    around: Surroundings,
  ): Log {
    const replies = repliesTo(before);
    let { world } = around;
    let last = before;
    let first: Log | undefined;
    const add = (standing: Standing): Log => {
      const log: Log = { id: ++this.#lastLog, before: last, standing, next: new Map() };
      last?.log.next.set(textOfReply(last.reply), log);
      first ??= log;
      return log;
    };
    const standing = runAnswered(program, number, time, (next, at) => {
      const known = replies[at];
      if (known !== undefined) return known;
      const made = this.#made({ ...around, world }, program, next);
      if (made.waits) return undefined;
      last = { log: add({ next }), reply: made.reply };
      world = made.world;
      return made.reply;
    });
    add(standing);
    return first as Log;
  }

  #place(place: Omit<Place, "id">): Place {
    const { number, ends, isBeforeBoot, log } = place;
    const key = `${number} ${log?.id} ${isBeforeBoot} ${ends}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const made = { ...place, id: this.#places.size };
    this.#places.set(key, made);
    return made;
  }
}

/** Whether a call may fail. The Go plugin's reaction to errors is not tested. */
function mayFail(program: Program | undefined, { word }: Operation): boolean {
  return !["unlock", "close", "runtime"].includes(word) && program?.locks !== "as Go";
}

function refusal({ word, path }: Operation, code: string): Reply {
  return { error: new SystemError(word, path, code) };
}

/** The replies up to the last one, in their order. */
function repliesTo(last: Log["before"]): readonly Reply[] {
  const replies: Reply[] = [];
  for (let at = last; at !== undefined; at = at.log.before) replies.push(at.reply);
  return replies.reverse();
}

function keyOf({ world, places, isCalm, hasBooted, refused }: State): string {
  let key = `${world.id} ${isCalm} ${hasBooted} ${refused?.code} ${refused?.word}`;
  for (const { id } of places) key += ` ${id}`;
  return key;
}

function stepsTo(
  queue: readonly { readonly step?: Step; readonly before?: number }[],
  last: number,
): readonly Step[] {
  const steps: Step[] = [];
  for (let at: number | undefined = last; at !== undefined; at = queue[at]?.before) {
    const step = queue[at]?.step;
    if (step !== undefined) steps.unshift(step);
  }
  return steps;
}
