/** Generated calls to the subject and to the Go plugin, each on files of its own that are the same. */

import { goPlugin } from "../../harness/go-plugin.ts";
import { codeOf, decidedDifference } from "./decided.ts";
import { type FuzzCase, fuzzCases, inputOf } from "./fuzz-cases.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { Sandbox } from "./sandbox.ts";
import { allOf, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** How many cases; the portable executable takes some thirty times as long to start. */
const COUNTS = {
  short: { native: 75, portable: 25 },
  full: { native: 150, portable: 150 },
  exhaustive: { native: 2000, portable: 1000 },
};

const grammar = { dataDir: "data", withOwnMembers: false };

const AT_ONCE = 4;

/** A call that does not end by then is cut off, in milliseconds. */
const CUT_OFF = 30_000;

export const differentialFuzzScenarios: readonly Scenario[] = [
  {
    fault: "The same generated call to the Go plugin, on the same files",
    promise:
      "accepted or refused alike, with the same code and result, except for the listed differences",
    obstacle: () =>
      goPlugin?.current === true ? undefined : "there is no Go plugin 1.9.1 to compare with",
    attempt: eachOf(
      ({ subject: { name }, seed, extent }) =>
        // It would be compared with itself.
        name === "Go" ? [] : fuzzCases(grammar, seed, COUNTS[extent][name]),
      compare,
      { atOnce: AT_ONCE, some: allOf },
    ),
  },
];

async function compare(trial: Trial, fuzzCase: FuzzCase): Promise<void> {
  const [here, go] = await Promise.all([
    callOnFiles(trial, trial.subject.path, fuzzCase),
    callOnFiles(trial, goPlugin?.path ?? "", fuzzCase),
  ]);
  if (isSame(here, go) || decidedDifference(fuzzCase, here, go) !== undefined) return;
  const kind = here.exitCode === 0 ? "accepted" : go.exitCode === 0 ? "refused" : "mute";
  const both = `here ${excerpt(here)}, Go ${excerpt(go)}`;
  trial.verifier.require(false, kind, `${both} — ${inputOf(fuzzCase)}`);
}

/** Accepted by both with the same document, or refused by both with the same code. */
function isSame(here: Ending, go: Ending): boolean {
  if (here.exitCode !== go.exitCode) return false;
  return here.exitCode === 0 ? here.stdout === go.stdout : codeOf(here) === codeOf(go);
}

function callOnFiles(trial: Trial, program: string, { call }: FuzzCase): Promise<Ending> {
  const { directory } = new Sandbox(trial);
  return callWithin(program, { ...call, workingDirectory: directory }, { limit: CUT_OFF });
}

function excerpt({ exitCode, stdout, stderr }: Ending): string {
  return `${exitCode} ${(stdout || stderr).replace(/\s+/g, " ").slice(0, 300)}`;
}
