/** Generated calls: whatever the input, one answer, in time, and nothing outside the data directory. */

import type { Extent } from "../../harness/extent.ts";
import { versionCall } from "../../harness/runtime-call.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireAnswer } from "./answers.ts";
import { type FuzzCase, fuzzCases, inputOf } from "./fuzz-cases.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { Sandbox } from "./sandbox.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import type { Subject } from "./subject.ts";

/** How many cases; the portable executable takes some thirty times as long to start. */
const COUNTS: Readonly<Record<Extent, Readonly<Record<Subject["name"], number>>>> = {
  short: { native: 100, portable: 25, Go: 100 },
  full: { native: 150, portable: 150, Go: 150 },
  exhaustive: { native: 3000, portable: 1000, Go: 3000 },
};

/** How many calls follow each other in one data directory. */
const LIFETIME = 25;

const AT_ONCE = 4;

/** A call that takes longer hangs, in milliseconds; one that does not end is killed. */
const LONGEST = 1000;
const CUT_OFF = 30_000;

/** How often a slow call is repeated alone, since the machine may have been busy. */
const REPETITIONS = 5;

export const fuzzScenarios: readonly Scenario[] = [
  {
    fault: "Generated environments and configurations, a third of them with mutated bytes",
    promise:
      "no crash, no hang over 1 s, no stack trace, one JSON document, no file outside dataDir",
    attempt: async (context) => {
      const { subject, extent, seed } = context;
      const count = COUNTS[extent][subject.name];
      const cases = fuzzCases({ dataDir: "data", withOwnMembers: true }, seed, count);
      const { attempts, slow } = await inBatches(context, cases);
      for (const { at, fuzzCase } of slow) {
        attempts[at] = { what: fuzzCase.what, violations: await repeated(context, fuzzCase) };
      }
      return attempts;
    },
  },
];

interface Slow {
  readonly at: number;
  readonly fuzzCase: FuzzCase;
}

async function inBatches(
  context: Context,
  cases: readonly FuzzCase[],
): Promise<{ readonly attempts: Attempt[]; readonly slow: readonly Slow[] }> {
  const attempts: Attempt[] = [];
  const slow: Slow[] = [];
  const starts = cases.map((_, at) => at).filter((at) => at % LIFETIME === 0);
  await sideBySide(starts, AT_ONCE, async (start) => {
    const sandbox = new Sandbox(context);
    for (const [offset, fuzzCase] of cases.slice(start, start + LIFETIME).entries()) {
      const at = start + offset;
      const verifier = new Verifier();
      const outcome = await callIn(sandbox, context, fuzzCase);
      requireAnswer(verifier, outcome, fuzzCase.what);
      sandbox.mustBeKept(verifier);
      attempts[at] = { what: fuzzCase.what, violations: withInput(verifier, fuzzCase) };
      const isSlow = outcome.took > LONGEST && verifier.violations.length === 0;
      if (isSlow) slow.push({ at, fuzzCase });
    }
  });
  return { attempts, slow };
}

/** A call hangs if it repeatedly takes too long, compared with a call that does nothing. */
async function repeated(context: Context, fuzzCase: FuzzCase): Promise<Attempt["violations"]> {
  const verifier = new Verifier();
  let fastest = Number.POSITIVE_INFINITY;
  for (let count = 0; count < REPETITIONS && fastest > LONGEST; count++) {
    const idle = await callWithin(context.subject.path, versionCall(), { limit: CUT_OFF });
    const outcome = await callIn(new Sandbox(context), context, fuzzCase);
    fastest = Math.min(fastest, outcome.took - idle.took);
  }
  verifier.require(fastest <= LONGEST, "hang", `${Math.round(fastest)} ms each time`);
  return withInput(verifier, fuzzCase);
}

function callIn({ directory }: Sandbox, { subject }: Context, { call }: FuzzCase): Promise<Ending> {
  const made = { ...call, workingDirectory: directory };
  return callWithin(subject.path, made, { limit: CUT_OFF });
}

/** Every violation with the input that shows it. */
function withInput({ violations }: Verifier, fuzzCase: FuzzCase): Attempt["violations"] {
  return violations.map(({ kind, detail }) => ({
    kind,
    detail: `${detail} — ${inputOf(fuzzCase)}`,
  }));
}
