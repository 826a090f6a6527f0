/** Generated calls, some damaged or oversized: each gets one answer, in time, the same as the Go plugin's. */

import { isObject, type Json, parseJson } from "../../../src/cni/json.ts";
import type { Call } from "../../harness/executable.ts";
import type { Extent } from "../../harness/extent.ts";
import { goPlugin } from "../../harness/go-plugin.ts";
import { randomFrom } from "../../harness/random.ts";
import { versionCall } from "../../harness/runtime-call.ts";
import { requireAnswer } from "./answers.ts";
import { codeOf, decidedDifference } from "./decided.ts";
import { type GeneratedCase, generatedCall } from "./generated-call.ts";
import { oversized } from "./oversized.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { Sandbox } from "./sandbox.ts";
import { allOf, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** How many calls are drawn; the portable executable takes some thirty times as long to start. */
const COUNTS = {
  short: { native: 100, portable: 25, Go: 100 },
  full: { native: 150, portable: 150, Go: 150 },
  exhaustive: { native: 3000, portable: 1000, Go: 3000 },
};

const DATA_DIRECTORY = "data";

/** The extra time, in milliseconds, after which a call of ordinary size counts as hanging. */
const LONGEST = 1000;

/**
 * The time limit of an oversized call on a busy machine, in milliseconds: a mebibyte takes a fraction of a second, tens of them
 * some seconds.
 */
const longest: Readonly<Record<Extent, number>> = {
  short: 60_000,
  full: 60_000,
  exhaustive: 180_000,
};

/** How often a slow call is repeated, since the machine may have been busy. */
const REPETITIONS = 5;

/** Draws calls with the seed of the run, without those that could lead a plugin to the real data directory. */
function drawn(withOwnMembers: boolean): (context: Context) => readonly GeneratedCase[] {
  return ({ subject, extent, seed }) => {
    const random = randomFrom(seed);
    const grammar = { dataDir: DATA_DIRECTORY, withOwnMembers };
    const cases: GeneratedCase[] = [];
    for (let at = 0; cases.length < COUNTS[extent][subject.name]; at++) {
      const call = generatedCall(random, grammar);
      if (!isTame(call.stdin.toString())) continue;
      cases.push({ what: `case ${at} of seed ${seed}`, call: () => call });
    }
    return cases;
  };
}

/** Whether a plugin that accepts the text works in the data directory of the sandbox, or in none. */
function isTame(text: string): boolean {
  const value = parsed(text);
  if (value === undefined || !isObject(value)) return true;
  // The Go plugin merges repeated objects: none of them may name another directory.
  const counts = [/"ipam"/gi, /"dataDir"\s*:\s*"(?:data[x/.]*|elsewhere)"/gi, /datadir/gi].map(
    (pattern) => text.match(pattern)?.length ?? 0,
  );
  return new Set(counts).size === 1;
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Makes a call in a sandbox, which it must not leave. */
async function answer(
  trial: Trial,
  { what, call }: GeneratedCase,
  run: (call: Call) => Promise<Ending>,
): Promise<Ending> {
  const sandbox = new Sandbox(trial);
  const ending = await run({ ...call(), workingDirectory: sandbox.directory });
  requireAnswer(trial.verifier, ending, what);
  sandbox.mustBeKept(trial.verifier);
  return ending;
}

async function inTime(trial: Trial, generated: GeneratedCase): Promise<void> {
  const { subject, extent, verifier } = trial;
  const limit = longest[extent];
  let fastest = Number.POSITIVE_INFINITY;
  for (let count = 0; count < REPETITIONS && fastest > LONGEST; count++) {
    const before =
      count === 0 ? 0 : (await callWithin(subject.path, versionCall(), { limit })).took;
    const { took } = await answer(trial, generated, (call) =>
      callWithin(subject.path, call, { limit }),
    );
    fastest = Math.min(fastest, took - before);
  }
  const isInTime = fastest <= LONGEST;
  verifier.require(isInTime, "hang", `${Math.round(fastest)} ms each time: ${inputOf(generated)}`);
}

/** Compares the answer with the Go plugin's; each plugin has its own copy of the same files. */
async function asGoPlugin(trial: Trial, generated: GeneratedCase): Promise<void> {
  const [here, go] = await Promise.all(
    [trial.subject.path, goPlugin?.path ?? ""].map((program) => {
      const { directory } = new Sandbox(trial);
      const call = { ...generated.call(), workingDirectory: directory };
      return callWithin(program, call, { limit: longest.short });
    }),
  );
  if (here === undefined || go === undefined || isSame(here, go)) return;
  if (decidedDifference(generated.call(), here, go) !== undefined) return;
  const kind = here.exitCode === 0 ? "accepted" : go.exitCode === 0 ? "refused" : "mute";
  const both = `here ${excerpt(here)}, Go ${excerpt(go)}`;
  trial.verifier.require(false, kind, `${both} — ${inputOf(generated)}`);
}

/** Whether both plugins accept the call with the same document, or refuse it with the same code. */
function isSame(here: Ending, go: Ending): boolean {
  if (here.exitCode !== go.exitCode) return false;
  return here.exitCode === 0 ? here.stdout === go.stdout : codeOf(here) === codeOf(go);
}

function excerpt({ exitCode, stdout, stderr }: Ending): string {
  return `${exitCode} ${(stdout || stderr).replace(/\s+/g, " ").slice(0, 300)}`;
}

/** The exact input of a case, to be given to the plugin again. */
function inputOf({ call, what }: GeneratedCase): string {
  const { environment, stdin } = call();
  const bytes = Buffer.from(stdin);
  const isText = Buffer.from(bytes.toString("utf8")).equals(bytes);
  const input = isText ? { stdin: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
  return `${what}: ${JSON.stringify({ environment, ...input })}`;
}

const atOnce = 4;

export const generatedCallScenarios: readonly Scenario[] = [
  {
    fault:
      "Generated environments and configurations, with names that lead elsewhere, repeated keys and __proto__, a third of them with damaged bytes",
    promise:
      "no crash, no hang over 1 s, no stack trace, one JSON document, no file outside dataDir",
    attempt: eachOf(drawn(true), inTime, { atOnce, some: allOf }),
  },
  {
    fault: "JSON 100000 deep, a million ranges, strings of 10 MiB, variables of 100 KiB",
    promise: "one JSON document, in a time proportionate to the size",
    attempt: eachOf(
      ({ extent }) => oversized(extent),
      (trial, generated) =>
        answer(trial, generated, (call) =>
          callWithin(trial.subject.path, call, { limit: longest[trial.extent] }),
        ),
      { atOnce: 2 },
    ),
  },
  {
    fault: "The same generated call to the Go plugin, on the same files",
    promise:
      "accepted or refused alike, with the same code and result, except for the listed differences",
    obstacle: () =>
      goPlugin?.current === true ? undefined : "there is no Go plugin 1.9.1 to compare with",
    attempt: eachOf(
      // The Go plugin would be compared with itself.
      (context) => (context.subject.name === "Go" ? [] : drawn(false)(context)),
      asGoPlugin,
      { atOnce, some: allOf },
    ),
  },
];
