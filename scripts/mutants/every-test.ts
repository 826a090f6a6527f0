/** What a report of Stryker says about the tests, where each has run for each mutant that it reaches. */

import { median } from "../bench/measure.ts";

/** The part of Stryker's report (mutation-testing-report-schema 2) that is read here. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>;
  readonly testFiles: Readonly<Record<string, { readonly tests: readonly NamedTest[] }>>;
}

interface Mutant {
  readonly location: { readonly start: { readonly line: number } };
  readonly killedBy?: readonly string[];
}

interface NamedTest {
  readonly id: string;
  readonly name: string;
}

/**
 * Sums up how many lines of each file have a mutant that tests notice, and how many tests notice one of a line, in the median;
 * then the tests that are the only one for no mutant.
 */
export function summaryOf({ files, testFiles }: MutationReport): string {
  const needed = new Set<string>();
  const killers = Object.entries(files).map(([path, { mutants }]) => {
    const lines = Map.groupBy(mutants, ({ location }) => location.start.line);
    const counts = [...lines.values()].flatMap((ofLine) => {
      const kills = ofLine.flatMap(({ killedBy = [] }) => (killedBy.length > 0 ? [killedBy] : []));
      for (const [only, ...others] of kills) if (only && others.length === 0) needed.add(only);
      return kills.length === 0 ? [] : [median(kills.map((tests) => tests.length))];
    });
    return { path, counts };
  });
  const rows = killers
    .filter(({ counts }) => counts.length > 0)
    .map(({ path, counts }) => `${median(counts)}\t${counts.length}\t${path}`);
  const all = median(killers.flatMap(({ counts }) => counts));
  const others = Object.values(testFiles)
    .flatMap(({ tests }) => tests)
    .filter(({ id }) => !needed.has(id));
  return [
    "Tests that fail\tlines\tfile",
    ...rows,
    `${all}\t\tall`,
    "",
    `${others.length} tests are never the only one that fails:`,
    ...others.map(({ name }) => name),
  ].join("\n");
}
