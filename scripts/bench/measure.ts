/** What is measured: the same calls of every program in turn, on stores of the same content. */

import { buildFloor, hasFloor } from "./floor.ts";
import { PROGRAMS, type Program, type ProgramName } from "./programs.ts";
import {
  AFTER_FOREIGN_WRITE,
  BURST,
  burstName,
  COUNTED,
  FIRST_EVER,
  REPEATED_DEL,
  type Series,
  SIZES,
} from "./results.ts";
import type { Call, Outcome, Runner } from "./runner.ts";
import {
  CAPACITY,
  containerId,
  countReservations,
  createStore,
  forget,
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
  /** What the tables call it. */
  readonly name: string;
  readonly calls: readonly Call[];
  readonly status: 0 | 1;
  readonly prints: boolean;
}

type Verb = "VERSION" | "STATUS" | "ADD" | "CHECK" | "DEL" | typeof REPEATED_DEL;

/** How often each part is repeated; a part without repetitions is left out. */
export interface Repetitions {
  /** Rounds at each of `SIZES`. */
  readonly rounds: readonly number[];
  /** First ADDs ever, and those after a foreign write, at each of `SIZES`. */
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

/** The calls of a round: what it reserves is gone at its end, so that all rounds are alike. */
const ROUND = ["VERSION", "STATUS", "ADD", "CHECK", "DEL", REPEATED_DEL] as const;

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
): readonly Series[] {
  const floor = programs.filter(({ name }) => hasFloor && name === "native");
  const all = [...programs, ...floor.map((native): Program => ({ ...native, name: "floor" }))];
  const contend = (name: string): readonly Contender[] =>
    all.map((program) => ({
      program,
      store: createStore(directory, `${name}-${program.name}`, program.cniVersion),
    }));
  const recorder = new Recorder(run);
  progress(`bursts of ${BURST} calls`);
  measureBursts(recorder, contend("burst"), repetitions.bursts);
  const contenders = contend("store");
  const full = contenders.filter(({ program: { name } }) => name !== "floor");
  let reserved = 0;
  SIZES.forEach((size, index) => {
    const rounds = repetitions.rounds[index] ?? 0;
    if (rounds === 0) return;
    progress(`${size} reservations`);
    for (const { store } of withStore(contenders)) {
      reserve(store, reserved, size);
      if (size > 0) setCursor(store, size - 1);
    }
    reserved = size;
    measureDisturbed(recorder, contenders, size, repetitions.disturbed[index] ?? 0);
    const withFloors = contenders.map((contender) =>
      contender.program.name === "floor" ? withFloor(recorder, contender, directory) : contender,
    );
    measureRounds(recorder, withFloors, size, rounds);
  });
  if (repetitions.nearlyFull === 0) return recorder.series;
  progress("a full range");
  measureFullRange(recorder, full, reserved, repetitions);
  return recorder.series;
}

/**
 * All ADDs at the same time, then all DELs. Not with Node.js: hundreds of its processes measure the machine's memory and
 * scheduler.
 */
function measureBursts(recorder: Recorder, contenders: readonly Contender[], bursts: number): void {
  const light = contenders.filter(({ program: { name } }) => name === "go" || name === "native");
  for (let burst = 0; burst < bursts; burst++) {
    for (const contender of light) {
      for (const verb of ["ADD", "DEL"] as const) {
        recorder.record([burstOf(contender, verb)], 0);
        requireReservations(contender, verb === "ADD" ? BURST : 0);
      }
    }
  }
}

function measureRounds(
  recorder: Recorder,
  contenders: readonly Contender[],
  size: number,
  rounds: number,
): void {
  const round = ROUND.flatMap((verb) => turn(contenders, verb));
  recorder.rehearse(repeat(round, WARM_UP_ROUNDS));
  recorder.record(repeat(round, rounds), size);
  for (const contender of withStore(contenders)) requireReservations(contender, size);
}

/** What the calls cost that know nothing of the directory, or nothing since another program has written to it. */
function measureDisturbed(
  recorder: Recorder,
  contenders: readonly Contender[],
  size: number,
  times: number,
): void {
  const ours = withStore(contenders).filter(
    ({ program: { name } }) => name !== "go" && name !== "floor",
  );
  for (let time = 0; time < times; time++) {
    for (const contender of ours) {
      for (const [name, disturb] of [
        [FIRST_EVER, forget],
        [AFTER_FOREIGN_WRITE, touch],
      ] as const) {
        disturb(contender.store);
        recorder.record([{ ...taskOf(contender, "ADD"), name }], size);
        recorder.rehearse([taskOf(contender, "DEL")]);
      }
    }
  }
}

/** Builds the floor from the calls of the native executable, on a store of its own. */
function withFloor(recorder: Recorder, contender: Contender, directory: string): Contender {
  // The calls that are repeated are not the first ones.
  recorder.rehearse((["ADD", "DEL"] as const).map((verb) => taskOf(contender, verb)));
  const calls = COUNTED.map((verb) => plainCall(contender, verb));
  return {
    ...contender,
    program: { ...contender.program, executable: buildFloor(directory, calls) },
  };
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

/**
 * One call of each program. The empty one, to which all verbs are the same, takes part in ADD, the floor in what it can
 * do.
 */
function turn(contenders: readonly Contender[], verb: Verb): readonly Task[] {
  return contenders
    .filter(({ program }) => program.name !== "empty" || verb === "ADD")
    .filter(({ program }) => program.name !== "floor" || COUNTED.some((one) => one === verb))
    .filter(({ program }) => program.cniVersion === "1.1.0" || verb !== "STATUS")
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

/** Whose calls make up a round. */
const CONTAINER = "bench";

/** The call of a round. */
export function plainCall(contender: Contender, verb: Verb): Call {
  return callOf(contender, verb, CONTAINER);
}

/** A call as a runtime makes it, for an attachment of a container of its own. */
function callOf({ program, store }: Contender, verb: Verb, container: string): Call {
  return {
    executable: program.executable,
    configuration: store.configuration,
    environment: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      CNI_COMMAND: verb === REPEATED_DEL ? "DEL" : verb,
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
  readonly #series = new Map<string, Series>();

  constructor(run: Runner) {
    this.#run = run;
  }

  /** By program. */
  get series(): readonly Series[] {
    const all = [...this.#series.values()];
    return PROGRAMS.flatMap((name) => all.filter(({ program }) => program === name));
  }

  /** Runs tasks one after the other, and records what they cost. */
  record(tasks: readonly Task[], reservations: number): void {
    const outcomes = this.rehearse(tasks);
    tasks.forEach(({ program, name }, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined) return;
      const series = this.#seriesOf(program, name, reservations);
      series.microseconds.push(Math.round(outcome.nanoseconds / 1000));
      series.processor.push(outcome.processor);
      series.kilobytes.push(outcome.kilobytes);
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

  #seriesOf(program: ProgramName, call: string, reservations: number): Series {
    const key = `${program} ${call} ${reservations}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = { program, call, reservations, microseconds: [], processor: [], kilobytes: [] };
    this.#series.set(key, series);
    return series;
  }
}
