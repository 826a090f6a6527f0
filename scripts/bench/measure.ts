/** What is measured: the same calls of every program in turn, on stores of the same content. */

import { buildFloor, hasFloor } from "./floor.ts";
import type { Program, ProgramName } from "./programs.ts";
import {
  AFTER_FOREIGN_WRITE,
  BURST,
  burstName,
  type Measurement,
  SIZES,
  spreadOf,
  VERBS,
  type Verb,
} from "./results.ts";
import type { Call, Outcome, Runner } from "./runner.ts";
import {
  CAPACITY,
  containerId,
  countReservations,
  createStore,
  release,
  reserve,
  type Store,
  setCursor,
  touch,
} from "./store.ts";

/** A program with the store that it works on. */
interface Contender {
  readonly program: Program;
  readonly store: Store;
}

/** Calls that are measured together, and what each must do to count. */
interface Task {
  readonly program: ProgramName;
  /** What the table calls it. */
  readonly name: string;
  readonly calls: readonly Call[];
  readonly status: 0 | 1;
  readonly prints: boolean;
}

/** How often each part is repeated; a part without repetitions is left out. */
export interface Repetitions {
  /** Rounds at each of `SIZES`. */
  readonly rounds: readonly number[];
  /** ADDs after a foreign write, at each of `SIZES`. */
  readonly disturbed: readonly number[];
  /** Rounds in a range with one free address. */
  readonly nearlyFull: number;
  /** Rounds in a full range. */
  readonly full: number;
  readonly bursts: number;
}

export const THOROUGH: Repetitions = {
  rounds: [120, 120, 40, 11],
  disturbed: [15, 15, 11, 7],
  nearlyFull: 7,
  full: 3,
  bursts: 9,
};

/** Enough to see that everything works, in seconds. */
export const QUICK: Repetitions = {
  rounds: [3, 3, 1, 0],
  disturbed: [1, 1, 1, 0],
  nearlyFull: 0,
  full: 0,
  bursts: 1,
};

const WARM_UP_ROUNDS = 2;

/** The place of the address that stays free in a nearly full range. */
const LAST_FREE = CAPACITY >> 1;

/**
 * Measures everything.
 *
 * @param directory where the stores are made
 * @param progress reports the next step
 */
export function measure(
  programs: readonly Program[],
  directory: string,
  run: Runner,
  repetitions: Repetitions,
  progress: (text: string) => void,
): readonly Measurement[] {
  const contend = (name: string, chosen: readonly Program[]): readonly Contender[] =>
    chosen.map((program) => ({
      program,
      store: createStore(directory, `${name}-${program.name}`, program.cniVersion),
    }));
  const recorder = new Recorder(run);
  progress(`bursts of ${BURST} calls`);
  // Not with Node.js: hundreds of its processes measure the machine's memory and scheduler.
  const light = programs.filter(({ name }) => name === "go" || name === "native");
  measureBursts(recorder, contend("burst", light), repetitions.bursts);
  const contenders = contend("store", programs);
  const floors = hasFloor
    ? contend(
        "floor",
        programs.filter(({ name }) => name === "native"),
      )
    : [];
  let reserved = 0;
  SIZES.forEach((size, index) => {
    const rounds = repetitions.rounds[index] ?? 0;
    if (rounds === 0) return;
    progress(`${size} reservations`);
    for (const { store } of [...withStore(contenders), ...floors]) {
      reserve(store, reserved, size);
      if (size > 0) setCursor(store, size - 1);
    }
    reserved = size;
    measureDisturbed(recorder, contenders, size, repetitions.disturbed[index] ?? 0);
    const measured = floors.map((native) => floorOf(recorder, native, directory));
    measureRounds(recorder, [...contenders, ...measured], size, rounds);
  });
  if (repetitions.nearlyFull > 0) {
    progress("a full range");
    measureFullRange(recorder, contenders, reserved, repetitions);
  }
  return recorder.measurements();
}

/** All ADDs at the same time, then all DELs. */
function measureBursts(recorder: Recorder, contenders: readonly Contender[], bursts: number): void {
  for (let burst = 0; burst < bursts; burst++) {
    for (const contender of contenders) {
      for (const verb of ["ADD", "DEL"] as const) {
        recorder.record([burstOf(contender, verb)], 0);
        requireReservations(contender, verb === "ADD" ? BURST : 0);
      }
    }
  }
}

/** What a round reserves is gone at its end, so that all are alike. */
function measureRounds(
  recorder: Recorder,
  contenders: readonly Contender[],
  size: number,
  rounds: number,
): void {
  const round = VERBS.flatMap((verb) => turn(contenders, verb));
  recorder.rehearse(repeat(round, WARM_UP_ROUNDS));
  recorder.record(repeat(round, rounds), size);
  for (const contender of withStore(contenders)) requireReservations(contender, size);
}

/** What a call costs that knows nothing since another program has written to the directory. */
function measureDisturbed(
  recorder: Recorder,
  contenders: readonly Contender[],
  size: number,
  times: number,
): void {
  const ours = withStore(contenders).filter(({ program: { name } }) => name !== "go");
  for (let time = 0; time < times; time++) {
    for (const contender of ours) {
      touch(contender.store);
      recorder.record([{ ...taskOf(contender, "ADD"), name: AFTER_FOREIGN_WRITE }], size);
      recorder.rehearse([taskOf(contender, "DEL")]);
    }
  }
}

/** Builds the floor from the calls of the native executable, on a store of its own. */
function floorOf(recorder: Recorder, native: Contender, directory: string): Contender {
  // The calls that are repeated are not the first ones.
  recorder.rehearse((["ADD", "DEL"] as const).map((verb) => taskOf(native, verb)));
  const executable = buildFloor(
    directory,
    VERBS.map((verb) => plainCall(native, verb)),
  );
  return { ...native, program: { ...native.program, name: "floor", executable } };
}

/** One free address, which comes last in the order of the search; then none. */
function measureFullRange(
  recorder: Recorder,
  contenders: readonly Contender[],
  reserved: number,
  { nearlyFull, full }: Repetitions,
): void {
  for (const { store } of withStore(contenders)) {
    reserve(store, reserved, CAPACITY);
    release(store, LAST_FREE);
    setCursor(store, LAST_FREE);
  }
  const round = [...turn(contenders, "ADD"), ...turn(contenders, "DEL")];
  recorder.rehearse(round);
  recorder.record(repeat(round, nearlyFull), CAPACITY - 1);
  for (const { store } of withStore(contenders)) reserve(store, LAST_FREE, LAST_FREE + 1);
  const refused = turn(contenders, "ADD").map(
    (task): Task => (task.program === "empty" ? task : { ...task, status: 1 }),
  );
  recorder.rehearse(refused);
  recorder.record(repeat(refused, full), CAPACITY);
  for (const contender of withStore(contenders)) requireReservations(contender, CAPACITY);
}

/** One call of each program. The empty one, to which all verbs are the same, takes part in ADD. */
function turn(contenders: readonly Contender[], verb: Verb): readonly Task[] {
  return contenders
    .filter(({ program }) => program.name !== "empty" || verb === "ADD")
    .map((contender) => taskOf(contender, verb));
}

function taskOf(contender: Contender, verb: Verb): Task {
  const { name: program } = contender.program;
  return {
    program,
    name: verb,
    calls: [plainCall(contender, verb)],
    status: 0,
    prints: program !== "empty" && (verb === "ADD" || verb === "VERSION"),
  };
}

/** The same verb for many containers at once. */
function burstOf(contender: Contender, verb: Verb): Task {
  const calls = Array.from({ length: BURST }, (_, index) =>
    callOf(contender, verb, `burst ${index}`),
  );
  return { ...taskOf(contender, verb), name: burstName(verb), calls };
}

/** The call of a round. */
export function plainCall(contender: Contender, verb: Verb): Call {
  return callOf(contender, verb, "bench");
}

/** A call as a runtime makes it, for an attachment of a container of its own. */
function callOf({ program, store }: Contender, verb: Verb, container: string): Call {
  return {
    executable: program.executable,
    configuration: store.configuration,
    environment: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      CNI_COMMAND: verb,
      CNI_CONTAINERID: containerId(container),
      CNI_IFNAME: "eth0",
      CNI_NETNS: "/run/netns/bench",
      CNI_PATH: "/opt/cni/bin",
    },
  };
}

/** Those that reserve something. */
function withStore(contenders: readonly Contender[]): readonly Contender[] {
  return contenders.filter(({ program }) => program.name !== "empty");
}

/** @throws when a program did not do its work */
function requireReservations({ program, store }: Contender, expected: number): void {
  const found = countReservations(store);
  if (found !== expected) {
    throw new Error(`After the calls of ${program.name}: ${found} reservations, not ${expected}.`);
  }
}

function repeat<T>(items: readonly T[], times: number): readonly T[] {
  return Array.from({ length: times }, () => items).flat();
}

/** Runs tasks, and keeps what they cost. */
class Recorder {
  readonly #run: Runner;
  readonly #costs = new Map<string, { task: Task; reservations: number; outcomes: Outcome[] }>();

  constructor(run: Runner) {
    this.#run = run;
  }

  measurements(): readonly Measurement[] {
    return [...this.#costs.values()].map(({ task, reservations, outcomes }) => ({
      program: task.program,
      call: task.name,
      reservations,
      time: spreadOf(outcomes.map(({ nanoseconds }) => nanoseconds / 1e6)),
      memory: spreadOf(outcomes.map(({ kilobytes }) => (kilobytes * 1024) / 1e6)),
    }));
  }

  /** Runs tasks one after the other, and records what they cost. */
  record(tasks: readonly Task[], reservations: number): void {
    const outcomes = this.rehearse(tasks);
    tasks.forEach((task, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined) return;
      const key = `${task.program} ${task.name} ${reservations}`;
      const known = this.#costs.get(key);
      if (known === undefined) this.#costs.set(key, { task, reservations, outcomes: [outcome] });
      else known.outcomes.push(outcome);
    });
  }

  /**
   * Runs tasks one after the other, and records nothing.
   *
   * @throws when one does not answer as it must
   */
  rehearse(tasks: readonly Task[]): readonly Outcome[] {
    const outcomes = this.#run(tasks.map(({ calls }) => calls));
    tasks.forEach((task, index) => {
      const outcome = outcomes[index];
      if (outcome?.status !== task.status || outcome.bytes > 0 !== task.prints) {
        throw new Error(`${task.name} of ${task.program} went wrong: ${JSON.stringify(outcome)}`);
      }
    });
    return outcomes;
  }
}
