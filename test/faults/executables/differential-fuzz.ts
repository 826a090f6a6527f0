/** Generated calls to the subject and to the Go plugin, each on files of its own that are the same. */

import { goPlugin } from "../../differential/go-plugin.ts";
import { sideBySide } from "../../side-by-side.ts";
import { type CutOffOutcome, callWithin } from "./cut-off-call.ts";
import { codeOf, decidedDifference } from "./decided.ts";
import { type FuzzCase, fuzzCases, inputOf } from "./fuzz-cases.ts";
import { Sandbox } from "./sandbox.ts";
import { type Attempt, Judgement, type Scenario, type Trial } from "./scenario.ts";

/** How many cases; the portable executable takes some thirty times as long to start. */
const COUNTS = {
  short: { native: 75, portable: 25 },
  full: { native: 150, portable: 150 },
  exhaustive: { native: 2000, portable: 1000 },
};

const AT_ONCE = 4;

/** A call that does not end by then is cut off, in milliseconds. */
const CUT_OFF = 30_000;

export const differentialFuzzScenarios: readonly Scenario[] = [
  {
    fault: "The same generated call to the Go plugin, on the same files",
    promise:
      "accepted or refused alike, with the same code and result, but for the decided differences",
    obstacle: () =>
      goPlugin?.current === true ? undefined : "there is no Go plugin 1.9.1 to compare with",
    attempt: async (trial) => {
      // It would be compared with itself.
      const { name } = trial.subject;
      if (name === "Go") return [];
      const grammar = { dataDir: "data", withOwnMembers: false };
      const cases = fuzzCases(grammar, trial.seed, COUNTS[trial.extent][name]);
      return sideBySide(cases, AT_ONCE, (fuzzCase) => compared(trial, fuzzCase));
    },
  },
];

async function compared(trial: Trial, fuzzCase: FuzzCase): Promise<Attempt> {
  const judgement = new Judgement();
  const [here, reference] = await Promise.all([
    callOnFiles(trial, trial.subject.path, fuzzCase),
    callOnFiles(trial, goPlugin?.path ?? "", fuzzCase),
  ]);
  if (!isSame(here, reference) && decidedDifference(fuzzCase, here, reference) === undefined) {
    const kind = here.exitCode === 0 ? "accepted" : reference.exitCode === 0 ? "refused" : "mute";
    const both = `here ${told(here)}, Go ${told(reference)}`;
    judgement.require(false, kind, `${both} — ${inputOf(fuzzCase)}`);
  }
  return { what: fuzzCase.what, violations: judgement.violations };
}

/** Accepted by both with the same document, or refused by both with the same code. */
function isSame(here: CutOffOutcome, reference: CutOffOutcome): boolean {
  if (here.exitCode !== reference.exitCode) return false;
  return here.exitCode === 0
    ? here.stdout === reference.stdout
    : codeOf(here) === codeOf(reference);
}

function callOnFiles(trial: Trial, program: string, { call }: FuzzCase): Promise<CutOffOutcome> {
  const { directory } = new Sandbox(trial);
  return callWithin(program, { ...call, workingDirectory: directory }, { milliseconds: CUT_OFF });
}

function told({ exitCode, stdout, stderr }: CutOffOutcome): string {
  return `${exitCode} ${(stdout || stderr).replace(/\s+/g, " ").slice(0, 300)}`;
}
