// test: native executable, slow
/** A process with too little memory or too few descriptors answers with an error object, as long as it can run at all. */

import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { executable } from "../harness/executable.ts";
import { attachmentCall, configuration, type Json, versionCall } from "../harness/runtime-call.ts";

const KIB = 1024;

/**
 * The least memory, in bytes: with less, the kernel or the C library may end the process before it begins; see
 * docs/evidence/reliability.md.
 */
const LEAST_MEMORY = 3200 * KIB;

const isMissing = spawnSync("prlimit", ["--version"]).status !== 0;
const skip = isMissing ? "prlimit is not installed, which sets the limits" : false;

/** An ADD to an empty store, its configuration with one more member. */
function add(t: Test, member: Json) {
  const document = configuration(
    mkdtempSync(join(t.testdirName, "data-")),
    { subnet: "198.51.100.0/24" },
    { member },
  );
  return attachmentCall("ADD", { containerId: "c1" }, document);
}

/** The end of a call under a limit: `success`, `error` and the code of one error object, or its whole output. */
function outcomeOf(limit: string, { environment, stdin }: ReturnType<typeof add>): string {
  const { status, signal, stdout, stderr } = spawnSync("prlimit", [limit, executable], {
    env: environment,
    input: stdin,
    encoding: "utf8",
  });
  if (status === 0 && stdout.startsWith("{")) return "success";
  const code = status === 1 ? codeOf(stdout) : undefined;
  return code !== undefined ? `error ${code}` : JSON.stringify({ status, signal, stdout, stderr });
}

function codeOf(text: string): number | undefined {
  try {
    const { code, msg } = JSON.parse(text);
    return typeof msg === "string" && msg !== "" ? code : undefined;
  } catch {
    return undefined;
  }
}

/** The outcomes of calls with more and more memory; equal successive outcomes are listed once. */
function outcomesWith(t: Test, member: Json, step: number): readonly string[] {
  const outcomes: string[] = [];
  for (let bytes = LEAST_MEMORY; outcomes.at(-1) !== "success"; bytes += step) {
    if (bytes > 100 * LEAST_MEMORY) break;
    const outcome = outcomeOf(`--as=${bytes}`, add(t, member));
    if (outcome !== outcomes.at(-1)) outcomes.push(outcome);
  }
  return outcomes;
}

test("3200 KiB of address space or more are enough: the stack leaves what the heap needs", {
  skip,
}, async (t) => {
  t.testdir();
  t.equal(outcomeOf(`--as=${LEAST_MEMORY}`, versionCall()), "success");
  for (let bytes = LEAST_MEMORY; bytes < 2 * LEAST_MEMORY; bytes += 64 * KIB) {
    t.equal(outcomeOf(`--as=${bytes}`, add(t, null)), "success", `${bytes / KIB} KiB`);
  }
});

const values = Array.from({ length: 2000 }, (_, at) => ({ [`key ${at}`]: [at, { a: `${at}` }] }));
const nested = JSON.parse(`${"[".repeat(3000)}${"]".repeat(3000)}`);

for (const [what, member, outcomes] of [
  ["many values", values, /^error 999,success$/],
  ["a long text", "x".repeat(300 * KIB), /^error 999,success$/],
  // The stack is a part of the memory: "stack overflow" comes from the JSON parser.
  ["deep nesting", nested, /^(?:error (?:6|999),)+success$/],
] as const) {
  test(`${what} that need more memory than there is are an error object`, { skip }, async (t) => {
    t.testdir();
    t.match(outcomesWith(t, member, 40 * KIB).join(), outcomes);
  });
}

test("JSON of any depth is an error object, however much of the stack the environment takes", {
  skip,
}, async (t) => {
  t.testdir();
  const depth = 300_000;
  const { environment, stdin } = add(t, null);
  const document = `${stdin.trimEnd().slice(0, -1)},"deep":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  // Linux allows up to a quarter of the limit, and 128 KiB in each variable.
  const outcomes = [0, 15].map((count) => {
    const variables = Array.from({ length: count }, (_, at) => [`V${at}`, "x".repeat(130_900)]);
    const call = {
      environment: { ...environment, ...Object.fromEntries(variables) },
      stdin: document,
    };
    return outcomeOf(`--stack=${8 * KIB * KIB}`, call);
  });
  t.strictSame(outcomes, ["error 6", "error 6"]);
});

test("an operator command without memory says so", { skip }, async (t) => {
  const many = JSON.stringify(Array.from({ length: 10 }, () => values));
  const file = join(t.testdir({ "nodes.json": many }), "nodes.json");
  const { status, stderr } = spawnSync(
    "prlimit",
    [`--as=${LEAST_MEMORY + 512 * KIB}`, executable, "audit", file],
    { encoding: "utf8" },
  );
  t.same({ status, stderr }, { status: 2, stderr: "host-local: out of memory\n" });
});

test("any number of descriptors gives a result or an error object", { skip }, async (t) => {
  t.testdir();
  const outcomes = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((count) =>
    outcomeOf(`--nofile=${count}:${count}`, add(t, null)),
  );
  t.match(outcomes.join(), /^(?:error (?:5|11|999),)+success(?:,success)*$/);
});
