/** The table of faults in docs/evidence/reliability.md. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attempt, Scenario } from "../../test/faults/executables/scenario.ts";
import type { Subject } from "../../test/faults/executables/subject.ts";
import type { Kind } from "../../test/harness/violations.ts";
import { root } from "../build/bundle.ts";

/** A fault, and the attempts of each executable. */
export interface Row {
  readonly scenario: Scenario;
  readonly outcomes: ReadonlyMap<Subject["name"], readonly Attempt[]>;
}

/** The table stands after this line, to the end of the file. */
const MARK = "<!-- The table: written by npm run test:faults -- --write -->";

const page = join(root, "docs", "evidence", "reliability.md");

/**
 * Puts a table of a run into docs/evidence/reliability.md.
 *
 * @param rows the faults in their order
 * @param run with which seed, how thoroughly
 */
export function writeTable(rows: readonly Row[], run: { seed: number; extent: string }): void {
  const text = readFileSync(page, "utf8");
  const before = text.slice(0, text.indexOf(MARK));
  const lines = [
    MARK,
    "",
    `Seed ${run.seed}, ${run.extent} extent: attempts that held, of all.`,
    "",
    "| fault | what must hold | native | portable | Go 1.9.1 |",
    "|---|---|---|---|---|",
    ...rows.map(({ scenario, outcomes }, at) => {
      const isRepeated = rows[at - 1]?.scenario.promise === scenario.promise;
      const cells = (["native", "portable", "Go"] as const).map((name) =>
        cellOf(outcomes.get(name) ?? []),
      );
      const promise = isRepeated ? "as above" : scenario.promise;
      return `| ${[scenario.fault, promise, ...cells].join(" | ")} |`;
    }),
    "",
  ];
  writeFileSync(page, `${before}${lines.join("\n")}`);
}

/** Such as `48/50: 2 leak`: an attempt counts under its first violation. */
function cellOf(attempts: readonly Attempt[]): string {
  if (attempts.length === 0) return "–";
  const kinds = new Map<Kind, number>();
  for (const { violations } of attempts) {
    const [first] = violations;
    if (first !== undefined) kinds.set(first.kind, (kinds.get(first.kind) ?? 0) + 1);
  }
  const bad = [...kinds.values()].reduce((sum, count) => sum + count, 0);
  const count = `${attempts.length - bad}/${attempts.length}`;
  if (bad === 0) return count;
  return `${count}: ${[...kinds].map(([kind, number]) => `${number} ${kind}`).join(", ")}`;
}
