/** Faults of standard input, output and error, which a shell script makes for the plugin, its `$0`. */

import { readFileSync } from "node:fs";
import { shellQuote } from "../../../src/cli/output/shell-word.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { requireFailure, requireSuccess } from "./answers.ts";
import { FaultNetwork } from "./network.ts";
import type { Ending } from "./running-call.ts";
import { type Case, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** A way to start the plugin; the script's own input is the configuration. */
interface Way extends Case {
  readonly script: string;
}

/** The largest configuration that is read, in bytes. */
const LARGEST = 64 * 2 ** 20;

/** Writes as many blanks as fit beside the configuration, then the configuration, which is in the file `input`. */
const padded = `head -c $((${LARGEST} - $(stat -c %s input))) /dev/zero | tr "\\0" " "; cat input`;

const noConfiguration: readonly Way[] = [
  { what: "closed", script: 'exec "$0" <&-' },
  { what: "empty", script: ': | "$0"' },
  { what: "/dev/null", script: 'exec "$0" </dev/null' },
  { what: "a directory", script: 'exec "$0" </' },
  { what: "cut off", script: 'head -c -3 | "$0"' },
  { what: "a name that is not UTF-8", script: `LC_ALL=C sed 's/"net"/"n\\xfft"/' | "$0"` },
];

const strangeWays: readonly Way[] = [
  { what: "byte by byte", script: 'dd bs=1 2>/dev/null | "$0"' },
  { what: "in a file", script: 'cat >input; exec "$0" <input' },
  {
    what: "in a file whose beginning somebody else read",
    script:
      '{ printf "not for you"; cat; } >input; { dd bs=11 count=1 of=/dev/null; exec "$0"; } <input 2>/dev/null',
  },
  {
    what: "with bytes that are no UTF-8 in a member that nobody reads",
    script: `LC_ALL=C sed 's/^{/{"note":"\\xff\\xfe\\x80",/' | "$0"`,
  },
  { what: "64 MiB of blanks before it", script: `cat >input; { ${padded}; } | "$0"` },
];

/** Inputs without an end: a pipe that is also open for writing never ends. */
function endless({ extent }: Context): readonly Way[] {
  const begun = "cat >input; mkfifo pipe;";
  const all = [
    {
      what: "more than 64 MiB and no end",
      script: `${begun} { echo; ${padded}; } >pipe & exec "$0" <>pipe`,
    },
    { what: "nothing is written", script: `${begun} exec "$0" <>pipe` },
    {
      what: "the whole configuration and no end",
      script: `${begun} cat input >pipe & exec "$0" <>pipe`,
    },
  ];
  return extent === "exhaustive" ? all : all.slice(0, 1);
}

const badOutputs: readonly Way[] = [
  { what: "closed", script: 'exec "$0" >&-' },
  { what: "/dev/full", script: 'exec "$0" >/dev/full' },
  {
    what: "a pipe whose reader is gone",
    script: 'mkfifo pipe; exec 4<>pipe 5>pipe 4>&-; exec "$0" >&5 5>&-',
  },
  {
    what: "a file that may not grow",
    script: 'head -c 512 /dev/zero >result; trap "" XFSZ; ulimit -f 1; exec "$0" >>result',
  },
  { what: "open for reading only", script: 'exec "$0" 1</dev/null' },
];

const closings = ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"];

/** The time limit in seconds: a minute for an input that never ends, and some more on a busy machine; enough for any other. */
const LIMIT = 90;

/** Makes the victim's call, started in this way, beside the reservation of another container. */
async function callThus(
  network: FaultNetwork,
  trial: Trial,
  script: string,
  verb: "ADD" | "DEL" = "ADD",
): Promise<Ending> {
  const under = ["/bin/sh", "-c", `cd ${shellQuote(scratchDirectory(trial))}; ${script}`];
  const thus = new FaultNetwork(trial, { directory: network.directory, under });
  return thus.do(verb, "victim", { limit: LIMIT });
}

async function inUse(trial: Trial): Promise<FaultNetwork> {
  const network = new FaultNetwork(trial);
  await network.do("ADD", "other");
  return network;
}

async function refused(trial: Trial, { script }: Way): Promise<void> {
  const network = await inUse(trial);
  await network.mustNotChange("ADD", async () => {
    requireFailure(trial.verifier, await callThus(network, trial, script), "ADD");
  });
}

async function served(trial: Trial, { script }: Way): Promise<void> {
  const network = await inUse(trial);
  requireSuccess(trial.verifier, await callThus(network, trial, script), "ADD");
  network.mustHold("victim", ["198.51.100.3", "2001:db8::3"]);
}

async function undelivered(trial: Trial, { script }: Way): Promise<void> {
  const network = await inUse(trial);
  const ending = await callThus(network, trial, script);
  trial.verifier.require(ending.exitCode !== 0, "accepted", "exit 0, though nobody has the result");
  requireOrderlyEnd(trial, ending, "ADD");
  network.mustHoldNothing("kept", "victim");
  await network.mustRecover();
}

async function withClosed(trial: Trial, { what }: Case): Promise<void> {
  const network = await inUse(trial);
  for (const verb of ["ADD", "DEL", "ADD"] as const) {
    requireOrderlyEnd(trial, await callThus(network, trial, `exec "$0" ${what}`, verb), verb);
    const lock = readFileSync(network.path("lock"), "utf8");
    trial.verifier.require(lock === "", "torn", `${verb}: the lock file says ${lock}`);
    network.mustBeWhole(["other", "victim"]);
  }
  await network.mustRecover();
}

/** Requires an orderly end, whatever the call printed: nobody may have read it. */
function requireOrderlyEnd({ verifier }: Trial, ending: Ending, what: string): void {
  const { isCutOff, exitCode, stderr } = ending;
  verifier.require(!isCutOff, "hang", `${what} was cut off`);
  const isEnd = isCutOff || exitCode === 0 || exitCode === 1;
  verifier.require(isEnd, "crash", `${what}: exit code ${exitCode}: ${stderr.slice(0, 300)}`);
}

export const streamScenarios: readonly Scenario[] = [
  {
    fault: "Standard input is closed, empty, a directory, cut off, or not UTF-8 where it matters",
    promise: "one error JSON, exit 1, nothing reserved",
    attempt: eachOf(noConfiguration, refused),
  },
  {
    fault:
      "The configuration comes byte by byte, in a file, with bytes that are not UTF-8, or has 64 MiB",
    promise: "the call is served",
    attempt: eachOf(strangeWays, served),
  },
  {
    fault: "Standard input never ends",
    promise: "one error JSON within a minute or after 64 MiB, exit 1, nothing reserved",
    attempt: eachOf(endless, refused),
  },
  {
    fault: "ADD cannot write its result: standard output is closed, full, or without a reader",
    promise: "exit 1, the reservation is rolled back, others keep theirs",
    attempt: eachOf(badOutputs, undelivered),
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
