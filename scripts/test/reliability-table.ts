/** The results of the faults: docs/data/faults.json, and what docs/evidence/reliability.md and README.md say of them. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attempt, Scenario } from "../../test/faults/executables/scenario.ts";
import type { Subject } from "../../test/faults/executables/subject.ts";
import type { Kind } from "../../test/harness/violations.ts";
import { root } from "../build/bundle.ts";
import { writeResults } from "../pages/runs.ts";

/** A fault, and the attempts of each executable. */
export interface Row {
  readonly scenario: Scenario;
  readonly outcomes: ReadonlyMap<Subject["name"], readonly Attempt[]>;
}

/** The attempts of one fault with one executable; a failed one counts under its first violation. */
interface Count {
  readonly attempts: number;
  readonly failed: Readonly<Partial<Record<Kind, number>>>;
}

/** A run of all faults, as docs/data/faults.json has it. */
export interface Faults {
  readonly seed: number;
  /** How many attempts: `short`, `full` or `exhaustive`. */
  readonly extent: string;
  /** The version of the Go plugin. */
  readonly go: string;
  readonly faults: readonly (Readonly<Record<Subject["name"], Count>> & {
    readonly fault: string;
    readonly promise: string;
  })[];
}

/** The table stands after this line, to the end of the file. */
const MARK = "<!-- The table: written by npm run test:faults -- --write -->";

/** The sentence about all faults, in README.md and above the table. */
const SENTENCE = /\d+ kinds of fault,[^;]*;[^*]*in the same runs/;

const names = ["native", "portable", "Go"] as const;

/** The recorded run. */
const DATA = join(root, "docs/data/faults.json");

/**
 * Writes the data of a run, the table in docs/evidence/reliability.md and the sentence in README.md. Of the faults that were
 * not tried the data stays, if it is of the same seed and extent.
 *
 * @param rows those that were tried
 * @param run with which seed, how thoroughly
 * @param scenarios all that there are, in their order
 */
export function writeTable(
  rows: readonly Row[],
  run: { seed: number; extent: string },
  scenarios: readonly Scenario[],
): void {
  const tried = rows.map(({ scenario, outcomes }) => {
    const [native, portable, Go] = names.map((name) => countOf(outcomes.get(name) ?? []));
    const { fault, promise } = scenario;
    return { fault, promise, native, portable, Go } as Faults["faults"][number];
  });
  const before: Faults = JSON.parse(readFileSync(DATA, "utf8"));
  const isSame = before.seed === run.seed && before.extent === run.extent;
  const known = [...tried, ...(isSame ? before.faults : [])];
  const faults = scenarios.flatMap(
    ({ fault }) => known.find((entry) => entry.fault === fault) ?? [],
  );
  const data: Faults = { ...run, go: "1.9.1", faults };
  writeResults(DATA, data);
  writeFaults(data);
}

/** Writes the pages about a run. */
export function writeFaults(data: Faults): void {
  for (const [name, text] of Object.entries(pagesWith(data))) writeFileSync(join(root, name), text);
}

/**
 * The pages that tell of the faults, path in the repository to content.
 *
 * @param data a run of all faults
 */
export function pagesWith(data: Faults): Readonly<Record<string, string>> {
  const page = readFileSync(join(root, "docs/evidence/reliability.md"), "utf8");
  const readme = readFileSync(join(root, "README.md"), "utf8");
  return {
    "docs/evidence/reliability.md": `${page.slice(0, page.indexOf(MARK))}${table(data)}`,
    "README.md": readme.replace(SENTENCE, sentenceOf(data)),
  };
}

/** The sum of a run, such as `2 kinds of fault, 7 injected attempts, 0 failures; the Go plugin 1.9.1 failed 3 of 6 in the same runs`. */
export function sentenceOf({ go, faults }: Faults): string {
  const total = (name: Subject["name"]): string => {
    const failed = sum(faults.map((fault) => failuresOf(fault[name])));
    return `${failed} of ${sum(faults.map((fault) => fault[name].attempts))}`;
  };
  const [failed = "", attempts = ""] = total("native").split(" of ");
  return `${faults.length} kinds of fault, ${attempts} injected attempts, ${failed} failures; the Go plugin ${go} failed ${total("Go")} in the same runs`;
}

function table(data: Faults): string {
  const { seed, extent, faults } = data;
  const failed = (row: Faults["faults"][number], ...of: readonly Subject["name"][]): boolean =>
    of.some((name) => failuresOf(row[name]) > 0);
  const own = faults.filter((row) => failed(row, "native", "portable"));
  const others = faults.filter((row) => failed(row, "Go") && !own.includes(row));
  const held = faults.filter((row) => !failed(row, ...names));
  const lines = [
    MARK,
    "",
    `**${sentenceOf(data)}.** These are the native executable's attempts. Seed ${seed}, ${extent} extent; the tables have`,
    "the attempts that held, of all.",
    "",
    ...(own.length === 0 ? [] : [...rows(data, own), ""]),
    ...folded(`${others.length} kinds of fault at which the Go plugin alone failed`, data, others),
    ...folded(`${held.length} kinds of fault at which nothing failed`, data, held),
  ];
  return lines.join("\n");
}

/** Rows that show once they are asked for. */
function folded(summary: string, data: Faults, faults: Faults["faults"]): readonly string[] {
  return [
    "<details>",
    `<summary>${summary}</summary>`,
    "",
    ...rows(data, faults),
    "",
    "</details>",
    "",
  ];
}

function rows({ go }: Faults, faults: Faults["faults"]): readonly string[] {
  return [
    `| fault | what must hold | native | portable | Go ${go} |`,
    "|---|---|---|---|---|",
    ...faults.map((fault, at) => {
      const promise = faults[at - 1]?.promise === fault.promise ? "as above" : fault.promise;
      const cells = names.map((name) => cellOf(fault[name]));
      return `| ${[fault.fault, promise, ...cells].join(" | ")} |`;
    }),
  ];
}

function countOf(attempts: readonly Attempt[]): Count {
  const failed: Partial<Record<Kind, number>> = {};
  for (const { violations } of attempts) {
    const [first] = violations;
    if (first !== undefined) failed[first.kind] = (failed[first.kind] ?? 0) + 1;
  }
  return { attempts: attempts.length, failed };
}

/** The text of a count, such as `48/50: 2 leak`. */
function cellOf(count: Count): string {
  const { attempts, failed } = count;
  if (attempts === 0) return "–";
  const bad = failuresOf(count);
  const held = `${attempts - bad}/${attempts}`;
  if (bad === 0) return held;
  const kinds = Object.entries(failed).map(
    ([kind, number]) => `${number} ${kind === "mute" ? "silent" : kind}`,
  );
  return `${held}: ${kinds.join(", ")}`;
}

function failuresOf({ failed }: Count): number {
  return sum(Object.values(failed));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
