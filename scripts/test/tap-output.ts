/** What a process of test files printed, as TAP. */

/** How many assertions passed, failed or were skipped. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** How a test file ended. */
export interface FileResult extends Counts {
  /** Relative to the top of the repository. */
  readonly path: string;
  readonly seconds: number;
  /** The reason of each skipped test. */
  readonly skipReasons: readonly string[];
  /** The output without the tests that passed; empty where nothing failed. */
  readonly report: string;
}

/** How a process of test files ended. */
export interface ProcessEnd {
  /** The files that it was to run, one after the other. */
  readonly paths: readonly string[];
  readonly seconds: number;
  /** Whether with the exit code 0. */
  readonly isOrderly: boolean;
  /** Why it ended, in words. */
  readonly end: string;
}

/** Reads the results of the files; what does not come to its end, or tests nothing, has failed. */
export function resultsOf(tap: string, end: ProcessEnd): readonly FileResult[] {
  const [path = ""] = end.paths;
  if (end.paths.length === 1) return [resultOf(path, tap, end)];
  const [, ...sections] = tap.split(/^# file: .*\n/m);
  const results = end.paths.map((path, at) =>
    resultOf(path, sections[at] ?? "", { ...end, isOrderly: true }),
  );
  if (end.isOrderly || results.some(({ failed }) => failed > 0)) return results;
  // Something went wrong that is about none of them.
  return results.map((result) =>
    result === results.at(-1) ? resultOf(result.path, sections.at(-1) ?? "", end) : result,
  );
}

function resultOf(path: string, tap: string, process: ProcessEnd): FileResult {
  const { isOrderly, end } = process;
  const time = /^# time=([\d.]+)ms$/m.exec(tap)?.[1];
  // Such as `# { total: 7, pass: 4, fail: 1, skip: 2 }`.
  const summary = /^# \{ total: .*\}$/m.exec(tap)?.[0];
  const count = (word: string): number =>
    Number(new RegExp(`\\b${word}: (\\d+)`).exec(summary ?? "")?.[1] ?? 0);
  const isEnded = count("total") > 0 && (isOrderly || count("fail") > 0);
  const failed = count("fail") + (isEnded ? 0 : 1);
  const where = openTests(tap).join(" > ");
  return {
    path,
    seconds: time === undefined ? process.seconds : Number(time) / 1000,
    passed: count("pass"),
    failed,
    skipped: count("skip") + count("todo"),
    skipReasons: [...tap.matchAll(/^ *ok .* # SKIP (.+)$/gm)].map(([, reason = ""]) => reason),
    report: [
      ...(failed > 0
        ? tap.split("\n").filter((line) => !/^ *(?:ok |#|\d+\.\.|TAP version|$)/.test(line))
        : []),
      ...(isEnded ? [] : [`The file did not come to its end: ${end}${where && `, in: ${where}`}`]),
    ].join("\n"),
  };
}

/** The names of the tests that began and did not end, the outermost first. */
function openTests(tap: string): readonly string[] {
  const open: string[] = [];
  for (const [, indent = "", begun, ended] of tap.matchAll(
    /^((?: {4})*)(?:# Subtest: (.*)|(?:not )?ok \d+ - (.*?)(?: # time=.*)?)$/gm,
  )) {
    const depth = indent.length / 4;
    if (begun !== undefined) open.splice(depth, Infinity, begun);
    else if (open[depth] === ended) open.splice(depth);
  }
  return open;
}
