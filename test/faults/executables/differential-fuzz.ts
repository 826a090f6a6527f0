/** Generated calls to the subject and to the Go plugin, each on files of its own that are the same. */

import { goPlugin } from "../../harness/go-plugin.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { codeOf, decidedDifference } from "./decided.ts";
import { type FuzzCase, fuzzCases, inputOf } from "./fuzz-cases.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { Sandbox } from "./sandbox.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

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
      "accepted or refused alike, with the same code and result, except for the listed differences",
    obstacle: () =>
      goPlugin?.current === true ? undefined : "there is no Go plugin 1.9.1 to compare with",
    attempt: async (context) => {
      // It would be compared with itself.
      const { name } = context.subject;
      if (name === "Go") return [];
      const grammar = { dataDir: "data", withOwnMembers: false };
      const cases = fuzzCases(grammar, context.seed, COUNTS[context.extent][name]);
      return sideBySide(cases, AT_ONCE, (fuzzCase) => compared(context, fuzzCase));
    },
  },
];

async function compared(context: Context, fuzzCase: FuzzCase): Promise<Attempt> {
  const verifier = new Verifier();
  const [here, reference] = await Promise.all([
    callOnFiles(context, context.subject.path, fuzzCase),
    callOnFiles(context, goPlugin?.path ?? "", fuzzCase),
  ]);
  if (!isSame(here, reference) && decidedDifference(fuzzCase, here, reference) === undefined) {
    const kind = here.exitCode === 0 ? "accepted" : reference.exitCode === 0 ? "refused" : "mute";
    const both = `here ${excerpt(here)}, Go ${excerpt(reference)}`;
    verifier.require(false, kind, `${both} — ${inputOf(fuzzCase)}`);
  }
  return { what: fuzzCase.what, violations: verifier.violations };
}

/** Accepted by both with the same document, or refused by both with the same code. */
function isSame(here: Ending, reference: Ending): boolean {
  if (here.exitCode !== reference.exitCode) return false;
  return here.exitCode === 0
    ? here.stdout === reference.stdout
    : codeOf(here) === codeOf(reference);
}

function callOnFiles(context: Context, program: string, { call }: FuzzCase): Promise<Ending> {
  const { directory } = new Sandbox(context);
  return callWithin(program, { ...call, workingDirectory: directory }, { limit: CUT_OFF });
}

function excerpt({ exitCode, stdout, stderr }: Ending): string {
  return `${exitCode} ${(stdout || stderr).replace(/\s+/g, " ").slice(0, 300)}`;
}
