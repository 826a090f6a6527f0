/** Faults of standard output, and descriptors that the caller closed. */

import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { FaultNetwork } from "./network.ts";
import { openPipe, throughShell } from "./pipes.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { type Case, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** For calls that should end at once, on a machine that is busy. */
const SOON = 60_000;

/** An ADD of the victim with something wrong about its standard output. */
interface BadOutput extends Case {
  readonly add: (network: FaultNetwork, trial: Trial) => Promise<Ending>;
}

const outputs: readonly BadOutput[] = [
  { what: "closed", add: (network) => inShell('exec "$0" >&-', network) },
  {
    what: "/dev/full",
    add: (network) => into(openSync("/dev/full", constants.O_WRONLY), network),
  },
  {
    what: "a pipe whose reader is gone",
    add: (network, trial) => {
      const { reader, writer } = openPipe(trial);
      closeSync(reader);
      return into(writer, network);
    },
  },
  {
    what: "a file that may not grow",
    add: (network) =>
      inShell(
        'head -c 512 /dev/zero >result; trap "" XFSZ; ulimit -f 1; exec "$0" >>result',
        network,
      ),
  },
  {
    what: "open for reading only",
    add: (network) => into(openSync("/dev/null", constants.O_RDONLY), network),
  },
];

const closings = ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"];

async function undelivered(trial: Trial, { add }: BadOutput): Promise<void> {
  const { verifier } = trial;
  const network = new FaultNetwork(trial);
  await network.do("ADD", "other");
  const ending = await add(network, trial);
  verifier.require(ending.exitCode !== 0, "accepted", "exit 0, though nobody has the result");
  requireOrderlyEnd(trial, ending, "ADD");
  network.mustHoldNothing("kept", "victim");
  await network.mustRecover();
}

async function withClosed(trial: Trial, { what }: Case): Promise<void> {
  const network = new FaultNetwork(trial);
  await network.do("ADD", "other");
  for (const command of ["ADD", "DEL", "ADD"] as const) {
    const ending = await inShell(`exec "$0" ${what}`, network, command);
    requireOrderlyEnd(trial, ending, command);
    const lock = readFileSync(network.path("lock"), "utf8");
    trial.verifier.require(lock === "", "torn", `${command}: the lock file says ${lock}`);
    network.mustBeWhole(["other", "victim"]);
  }
  await network.mustRecover();
}

/** What it printed does not matter: nobody may have it. */
function requireOrderlyEnd({ verifier }: Trial, ending: Ending, what: string): void {
  const { isCutOff, exitCode, stderr } = ending;
  verifier.require(!isCutOff, "hang", `${what} was cut off`);
  const isEnd = isCutOff || exitCode === 0 || exitCode === 1;
  verifier.require(isEnd, "crash", `${what}: exit code ${exitCode}: ${stderr.slice(0, 300)}`);
}

/** The script's `$0` is the plugin. */
function inShell(
  script: string,
  network: FaultNetwork,
  command: "ADD" | "DEL" = "ADD",
): Promise<Ending> {
  const call = { ...network.call(command, "victim"), workingDirectory: network.directory };
  return throughShell(script, call, network.subject);
}

/** The victim's ADD with an open file as standard output, which is closed afterwards. */
async function into(file: number, network: FaultNetwork): Promise<Ending> {
  try {
    return await callWithin(network.subject.path, network.call("ADD", "victim"), {
      limit: SOON,
      stdio: ["pipe", file, "pipe"],
    });
  } finally {
    closeSync(file);
  }
}

export const streamScenarios: readonly Scenario[] = [
  {
    fault: "ADD cannot write its result: standard output is closed, full, or without a reader",
    promise: "exit 1, the reservation is rolled back, others keep theirs",
    attempt: eachOf(outputs, undelivered),
  },
  {
    fault: "ADD and DEL with standard input, output or error closed, in every combination",
    promise:
      "no file that is opened later is taken for a stream, so nothing is written to a wrong file",
    attempt: eachOf(
      closings.map((what) => ({ what })),
      withClosed,
    ),
  },
];
