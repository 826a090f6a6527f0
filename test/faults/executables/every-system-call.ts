/** A fault at every system call that accesses the data directory. */

import { grantedAddresses } from "../../blackbox/network.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { sample } from "../../harness/sample.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { DualStack, verifyError, verifyRecovery } from "./dual-stack.ts";
import { injectionObstacle, runInjected, type SystemCall, systemCallsOf } from "./injection.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

type Command = "ADD" | "DEL";

/** What is done at a system call. */
interface Fault {
  readonly name: string;
  /** As `strace --inject` has it. */
  readonly injection: string;
  /** How many calls of the same name it strikes in a row. */
  readonly times: number;
  /** The error message for it, if the process is not killed. */
  readonly cause?: string;
}

const kill: Fault = { name: "killed", injection: "signal=KILL", times: 1 };

/** No file system interrupts one call more often in a row. */
const MANY_INTERRUPTIONS = 20;

/** Practically always, for a process that runs for milliseconds. */
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

/** How many attempts run at once: most of their time is spent waiting for stale locks. */
const AT_ONCE = 6;

/** The smallest share of faults that must hit the intended call; with fewer, too little was tested. */
const FEWEST_HITS = 0.9;

/** How often an attempt is repeated if its fault hit another call. */
const MOST_TRIES = 5;

/** One attempt of this many is made; of those with a kill, which are fewer, four times as many. */
function oneIn({ extent, subject }: Context): number {
  return { short: subject.name === "portable" ? 360 : 120, full: 40, exhaustive: 1 }[extent];
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
      promise: "the same; it works, or reports what failed and where, and keeps nothing",
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
): Promise<readonly Attempt[]> {
  const network = await prepare(context, command);
  const calls = await systemCallsOf(
    context.subject.path,
    network.call(command, "victim"),
    network.directory,
  );
  const all = calls.flatMap((at) => faults.map((fault) => ({ at, fault })));
  const chosen = sample(all, Math.max(1, oneIn(context) / times), context.seed);
  const attempts = await sideBySide(chosen, AT_ONCE, async ({ at, fault }) => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const attempt = await strike(context, command, at, fault);
      if (attempt !== undefined) return [attempt];
    }
    return [];
  });
  const made = attempts.flat();
  if (context.subject.name !== "Go" && made.length < chosen.length * FEWEST_HITS) {
    throw new Error(`Only ${made.length} of ${chosen.length} faults struck where they should.`);
  }
  return made;
}

/** A network with one attachment, and the victim where it is to be deleted. */
async function prepare(context: Context, command: Command): Promise<DualStack> {
  const network = new DualStack(context.subject, scratchDirectory(context));
  await network.do("ADD", "other");
  if (command === "DEL") await network.do("ADD", "victim");
  return network;
}

/** Returns the attempt; `undefined` if the fault hit another call, since threads vary the order of calls. */
async function strike(
  context: Context,
  command: Command,
  at: SystemCall,
  fault: Fault,
): Promise<Attempt | undefined> {
  const what = `${command} ${fault.name} at ${at.name} ${at.occurrence} (${at.target})`;
  const network = await prepare(context, command);
  const verifier = new Verifier();
  const { directory, subject } = network;
  const call = network.call(command, "victim");
  const injected = await runInjected(
    subject.path,
    call,
    directory,
    at,
    fault.injection,
    fault.times,
  );
  if (!injected.isHit) return undefined;

  const { outcome } = injected;
  if (fault.cause !== undefined && outcome.exitCode !== 0) {
    // A call that cannot write cannot report it; one that cannot read or unlink a reservation cannot release it.
    const isMute = at.name === "write" && fault.times > 1;
    const isHelpless = /^(?:open|read|unlink)/.test(at.name) && fault.times > 1;
    if (!isMute) verifyError(outcome, directory, fault.cause, verifier);
    if (command === "ADD" && !isHelpless) {
      verifier.require(network.heldBy("victim").length === 0, "kept", "after a failed ADD");
    }
  }
  if (command === "ADD" && outcome.exitCode === 0) {
    const granted = grantedAddresses(outcome).sort().join(" ");
    const held = network.heldBy("victim").join(" ");
    verifier.require(granted === held, "double", `granted ${granted}, held ${held}`);
  }
  if (command === "DEL" && outcome.exitCode === 0) {
    verifier.require(network.heldBy("victim").length === 0, "leak", "after a DEL that worked");
  }
  await verifyRecovery(network, verifier);
  return { what, violations: verifier.violations };
}
