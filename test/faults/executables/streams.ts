/** Faults of standard output, and descriptors that the caller closed. */

import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { DualStack, verifyRecovery } from "./dual-stack.ts";
import { inputScenarios } from "./input-streams.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

/** For calls that should end at once, on a machine that is busy. */
const SOON = 60_000;

/** An ADD of the victim with something wrong about its standard output. */
type Start = (network: DualStack, context: Context) => Promise<Ending>;

const outputs: readonly (readonly [what: string, start: Start])[] = [
  ["closed", (network) => throughShell('exec "$0" >&-', network)],
  ["/dev/full", (network) => into(openSync("/dev/full", constants.O_WRONLY), network)],
  [
    "a pipe whose reader is gone",
    (network, context) => into(brokenPipe(scratchDirectory(context)), network),
  ],
  [
    "a file that may not grow",
    (network) =>
      throughShell(
        'head -c 512 /dev/zero >result; trap "" XFSZ; ulimit -f 1; exec "$0" >>result',
        network,
      ),
  ],
  ["open for reading only", (network) => into(openSync("/dev/null", constants.O_RDONLY), network)],
];

const closings = ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"];

/** What the standard streams may do to a call. */
export const streamsScenarios: readonly Scenario[] = [
  ...inputScenarios,
  {
    fault: "ADD cannot write its result: standard output is closed, full, or without a reader",
    promise: "exit 1, the reservation is rolled back, others keep theirs",
    attempt: (context) =>
      sideBySide(shortSampleOf(context, outputs), 3, ([what, start]) =>
        undelivered(what, start, context),
      ),
  },
  {
    fault: "ADD and DEL with standard input, output or error closed, in every combination",
    promise:
      "no file that is opened later is taken for a stream, so nothing is written to a wrong file",
    attempt: (context) =>
      sideBySide(shortSampleOf(context, closings), 3, (closing) => withClosed(closing, context)),
  },
];

async function undelivered(what: string, start: Start, context: Context): Promise<Attempt> {
  const verifier = new Verifier();
  const network = new DualStack(context.subject, scratchDirectory(context));
  await network.do("ADD", "other");

  const { isCutOff, exitCode, stderr } = await start(network, context);

  verifier.require(!isCutOff, "hang", "cut off");
  verifier.require(exitCode !== 0, "accepted", "exit 0, though nobody has the result");
  const isEnd = exitCode === 0 || exitCode === 1 || isCutOff;
  verifier.require(isEnd, "crash", `exit code ${exitCode}: ${stderr.slice(0, 300)}`);
  const kept = network.heldBy("victim");
  verifier.require(kept.length === 0, "kept", `still reserved: ${kept}`);
  await verifyRecovery(network, verifier);
  return { what, violations: verifier.violations };
}

async function withClosed(closing: string, context: Context): Promise<Attempt> {
  const verifier = new Verifier();
  const network = new DualStack(context.subject, scratchDirectory(context));
  await network.do("ADD", "other");
  for (const command of ["ADD", "DEL", "ADD"] as const) {
    const { isCutOff, exitCode } = await throughShell(`exec "$0" ${closing}`, network, command);
    verifier.require(!isCutOff, "hang", `${command} was cut off`);
    const isEnd = exitCode === 0 || exitCode === 1;
    verifier.require(isEnd, "crash", `${command}: exit code ${exitCode}`);
    const lock = readFileSync(join(network.directory, "net/lock"), "utf8");
    verifier.require(lock === "", "torn", `${command}: the lock file says ${lock}`);
    for (const [name, content] of network.reservations()) {
      const isWhole = /^(?:other|victim)\r\neth0$/.test(content);
      verifier.require(isWhole, "torn", `${command}: ${name} says ${JSON.stringify(content)}`);
    }
  }
  await verifyRecovery(network, verifier);
  return { what: closing, violations: verifier.violations };
}

/** The script's `$0` is the plugin. */
function throughShell(
  script: string,
  network: DualStack,
  command: "ADD" | "DEL" = "ADD",
): Promise<Ending> {
  const call = {
    ...network.call(command, "victim"),
    workingDirectory: network.directory,
    arguments: ["-c", script, network.subject.path],
  };
  return callWithin("/bin/sh", call, { limit: SOON });
}

/** The victim's ADD with an open file as standard output, which is closed afterwards. */
async function into(file: number, network: DualStack): Promise<Ending> {
  try {
    return await callWithin(network.subject.path, network.call("ADD", "victim"), {
      limit: SOON,
      stdio: ["pipe", file, "pipe"],
    });
  } finally {
    closeSync(file);
  }
}

/** The writing end of a pipe that nobody reads any more. */
function brokenPipe(directory: string): number {
  const path = join(directory, "pipe");
  spawnSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  closeSync(reader);
  return writer;
}
