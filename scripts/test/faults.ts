/**
 * Injects every fault of `test/faults/executables` into every executable that is here, and prints the results. The
 * Go plugin is there for comparison; the exit status is that of our own executables.
 *
 * Usage: npm run test:faults [-- [--seed NUMBER] [--extent EXTENT] [--only WORDS] [--write]]
 *
 *   --seed NUMBER    the seed of all that is random; without it one is drawn, and printed
 *   --extent EXTENT  short, as in npm test; full, as in npm run test:all; exhaustive, which is the default
 *   --only WORDS     the faults alone whose description contains the words
 *   --write          writes the table to docs/evidence/reliability.md, too; of faults that were not tried it keeps what it has
 *                    of the same seed and extent
 */

import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import type { Attempt, Context, Scenario } from "../../test/faults/executables/scenario.ts";
import { scenarios } from "../../test/faults/executables/scenarios.ts";
import { type Subject, subjects } from "../../test/faults/executables/subject.ts";
import { extentNamed } from "../../test/harness/extent.ts";
import { goPlugin } from "../../test/harness/go-plugin.ts";
import { type Row, writeTable } from "./reliability-table.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    extent: { type: "string", default: "exhaustive" },
    only: { type: "string", default: "" },
    write: { type: "boolean", default: false },
  },
});
const seed = options.seed === undefined ? randomInt(2 ** 31) : Number(options.seed);
const extent = extentNamed(options.extent);

if (options.write && goPlugin?.current !== true) {
  throw new Error("The page compares with the Go plugin 1.9.1: npm run fetch -- go-plugins");
}

/** At most this many bad attempts of one scenario are shown in full. */
const SHOWN = 20;

const rows: Row[] = [];
let held = 0;
let broken = 0;
console.log(
  `Faults with seed ${seed}, ${extent}, on ${subjects.map(({ name }) => name).join(", ")}`,
);
for (const scenario of scenarios.filter(({ fault }) => fault.includes(options.only))) {
  const obstacle = scenario.obstacle?.();
  if (obstacle !== undefined) {
    console.log(`skipped: ${scenario.fault}: ${obstacle}`);
    continue;
  }
  const outcomes = new Map<Subject["name"], readonly Attempt[]>();
  for (const subject of subjects) outcomes.set(subject.name, await attempt(scenario, subject));
  rows.push({ scenario, outcomes });
}
if (options.write) writeTable(rows, { seed, extent }, scenarios);
console.log(`# { total: ${held + broken}, pass: ${held}${broken > 0 ? `, fail: ${broken}` : ""} }`);
process.exitCode = broken > 0 || rows.length === 0 || rows.some(isUntried) ? 1 : 0;

/** Whether one of our own executables has no attempt. */
function isUntried({ scenario, outcomes }: Row): boolean {
  const untried = [...outcomes].filter(
    ([name, attempts]) => name !== "Go" && attempts.length === 0,
  );
  for (const [name] of untried) console.log(`nothing was tried: ${name}: ${scenario.fault}`);
  return untried.length > 0;
}

async function attempt(scenario: Scenario, subject: Subject): Promise<readonly Attempt[]> {
  const undo: (() => unknown)[] = [];
  const teardown: Context["teardown"] = (step) => {
    if (step !== undefined) undo.unshift(step);
  };
  const began = performance.now();
  const attempts = await scenario.attempt({ subject, extent, seed, teardown });
  for (const step of undo) await step();

  const bad = attempts.filter(({ violations }) => violations.length > 0);
  if (subject.name !== "Go") {
    held += attempts.length - bad.length;
    broken += bad.length;
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  const count = `${attempts.length - bad.length} of ${attempts.length}`;
  console.log(`${count} held, ${seconds} s, ${subject.name}: ${scenario.fault}`);
  for (const { what, violations } of bad.slice(0, SHOWN)) {
    console.log(`    ${what}`);
    for (const { kind, detail } of violations) console.log(`        ${kind}: ${detail}`);
  }
  return attempts;
}
