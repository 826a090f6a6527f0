/** A fault at every system call that accesses the data directory. */

import { isDeepStrictEqual } from "node:util";
import { grantedAddresses } from "../../harness/network.ts";
import { sample } from "../../harness/sample.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure } from "./answers.ts";
import { injectionObstacle, runInjected, type SystemCall, systemCallsOf } from "./injection.ts";
import { FaultNetwork } from "./network.ts";
import {
  allOf,
  type Case,
  type Context,
  eachOf,
  NOT_MADE,
  type Scenario,
  type Trial,
} from "./scenario.ts";
import { bystander } from "./subject.ts";

type Command = "ADD" | "DEL";

/** A fault at a system call. */
interface Fault {
  readonly name: string;
  /** The fault in the form of `strace --inject`. */
  readonly injection: string;
  /** How many successive calls of the same name it strikes. */
  readonly times: number;
  /** The error message that it causes, if the process is not killed. */
  readonly cause?: string;
}

/** A fault at a system call of a command. */
interface Strike extends Case {
  readonly command: Command;
  readonly at: SystemCall;
  readonly fault: Fault;
}

const kill: Fault = { name: "killed", injection: "signal=KILL", times: 1 };

/** More interruptions of one call in a row than any file system makes. */
const MANY_INTERRUPTIONS = 20;

/** More calls than a process of some milliseconds makes. */
const ALWAYS = 10_000;

const causes = {
  EIO: "input/output error",
  ENOSPC: "no space left on device",
  EACCES: "permission denied",
  EROFS: "read-only file system",
  EMFILE: "too many open files",
  EINTR: "interrupted system call",
};

const refusals: readonly Fault[] = Object.entries(causes).flatMap(([errno, cause]) => [
  { name: `${errno} once`, injection: `error=${errno}`, times: 1, cause },
  {
    name: `${errno} again and again`,
    injection: `error=${errno}`,
    times: errno === "EINTR" ? MANY_INTERRUPTIONS : ALWAYS,
    cause,
  },
]);

/** The exit code of a process that SIGABRT has ended, as strace tells it. */
const ABORTED = 134;

/** How many attempts run at once; some of them wait. */
const AT_ONCE = 6;

/**
 * How many faults of ten may miss the intended call, and how many if there are only a few; more misses would test too little.
 */
const MOST_MISSES = { ofTen: 1, ofFew: 3 };

/** The least number of faults that are tried. */
const FEWEST = 2 * MOST_MISSES.ofFew;

/** How often an attempt is repeated if its fault hit another call. */
const MOST_TRIES = 5;

/** How many attempts there are for each one made; attempts with a kill are fewer, so four times as many are made. */
function oneIn({ extent, subject }: Context): number {
  return { short: subject.name === "portable" ? 720 : 120, full: 40, exhaustive: 1 }[extent];
}

export const everySystemCallScenarios: readonly Scenario[] = (["ADD", "DEL"] as const).flatMap(
  (command) => [
    {
      fault: `${command} killed on entering each system call`,
      promise:
        "files are whole, DEL frees all, others are served, every address can be handed out again",
      obstacle: injectionObstacle,
      attempt: (context: Context) => strikeEverywhere(context, command, [kill], 4),
    },
    {
      fault: `${command} with each system call failing, once and repeatedly: ${Object.keys(causes).join(", ")}`,
      promise: "the same. It works, or reports what failed and where, and keeps nothing",
      obstacle: injectionObstacle,
      attempt: (context: Context) => strikeEverywhere(context, command, refusals, 1),
    },
  ],
);

async function strikeEverywhere(
  context: Context,
  command: Command,
  faults: readonly Fault[],
  times: number,
): ReturnType<Scenario["attempt"]> {
  const { subject } = context;
  const list = async (): Promise<readonly SystemCall[]> => {
    const network = await prepare({ ...context, verifier: new Verifier() }, command);
    return systemCallsOf(subject.path, network.call(command, "victim"), network.directory);
  };
  // On a busy machine one run in ten has another order, which later runs need not repeat.
  const [calls, others] = [await list(), await list()];
  const usual = calls.filter((call) =>
    others.some((repeated) => isDeepStrictEqual(call, repeated)),
  );
  const all = usual.flatMap((at) =>
    faults.map((fault) => {
      const what = `${command} ${fault.name} at ${at.name} ${at.occurrence} (${at.target})`;
      return { what, command, at, fault };
    }),
  );
  const rate = Math.min(oneIn(context) / times, all.length / FEWEST);
  const chosen = sample(all, Math.max(1, rate), context.seed);
  const made = await eachOf(chosen, tryToStrike, { atOnce: AT_ONCE, some: allOf })(context);
  const mostMisses = Math.max(MOST_MISSES.ofFew, (chosen.length * MOST_MISSES.ofTen) / 10);
  if (subject.name !== "Go" && made.length < chosen.length - mostMisses) {
    throw new Error(`Only ${made.length} of ${chosen.length} faults struck where they should.`);
  }
  return made;
}

/** A network with one attachment, and the victim where it is to be deleted. */
async function prepare(trial: Trial, command: Command): Promise<FaultNetwork> {
  const network = new FaultNetwork(bystander(trial));
  await network.do("ADD", "other");
  if (command === "DEL") await network.do("ADD", "victim");
  return network;
}

async function tryToStrike(trial: Trial, row: Strike): Promise<typeof NOT_MADE | undefined> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    if (await strike(trial, row)) return undefined;
  }
  return NOT_MADE;
}

/** Makes an attempt, and returns whether the fault hit the call: threads vary the order of calls. */
async function strike(trial: Trial, { command, at, fault }: Strike): Promise<boolean> {
  const { verifier, subject } = trial;
  const network = await prepare(trial, command);
  const { directory } = network;
  const call = network.call(command, "victim");
  const { injection, times, cause } = fault;
  const injected = await runInjected(subject.path, call, directory, at, injection, times);
  if (!injected.isHit) return false;

  const { ending } = injected;
  if (cause !== undefined && ending.exitCode !== 0) {
    // A call that cannot write cannot report it; one that cannot read or unlink a reservation cannot release it.
    const isMute = at.name === "write" && times > 1;
    // Node.js ends itself if it cannot even wake a thread of its own; then it is like any other killed process.
    const isAborted = isMute && (ending.signal === "SIGABRT" || ending.exitCode === ABORTED);
    const isHelpless = /^(?:open|read|unlink)/.test(at.name) && times > 1;
    if (!isMute) requireFailure(verifier, ending, command, directory, cause);
    if (command === "ADD" && !isHelpless && !isAborted) network.mustHoldNothing("kept", "victim");
  }
  if (ending.exitCode === 0) {
    if (command === "ADD") network.mustHold("victim", grantedAddresses(ending));
    else network.mustHoldNothing("leak", "victim");
  }
  await network.mustRecover();
  return true;
}
