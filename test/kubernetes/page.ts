/** The page about the last run of the scenarios. */

import { wrap } from "../../src/cli/output/wrap.ts";

/** Something that was seen in a scenario. */
export interface Evidence {
  readonly sentence: string;
  /** Text as it was printed. */
  readonly seen?: string;
}

/** One run of a scenario with one executable. */
export interface ScenarioRun {
  readonly title: string;
  readonly executable: "native" | "portable";
  readonly result: "passed" | "failed" | "skipped";
  /** Why it was skipped, in a sentence. */
  readonly reason?: string;
  /** The programs of the cluster, where it was started. */
  readonly version?: string;
  /** Until the cluster was up, and from then on, in seconds. */
  readonly times?: { readonly start: number; readonly scenario: number };
  readonly evidence: readonly Evidence[];
}

/** The runs of a day, as docs/data/kubernetes.json has them. */
export interface Runs {
  /** Such as `2025-01-31`. */
  readonly date: string;
  readonly runs: readonly ScenarioRun[];
}

/** The width of the pages in docs/. */
const WIDTH = 120;

/** The page leaves longer output to its data, in lines. */
const LONGEST = 4;

/**
 * What a run showed, as Markdown.
 *
 * @param run the run
 * @param longest output of more lines is left out
 */
export function evidenceOf({ evidence }: ScenarioRun, longest = Infinity): string {
  return evidence
    .map(({ sentence, seen }) => {
      if (seen === undefined) return sentence;
      const lines = seen.trimEnd().split("\n");
      if (lines.length > longest) return `${sentence} *${lines.length} lines*`;
      return [sentence, "", "```", ...lines, "```"].join("\n");
    })
    .join("\n\n");
}

/**
 * How a run ended, in a few words.
 *
 * @param run the run; undefined if there was none
 */
export function resultOf(run: ScenarioRun | undefined): string {
  if (run === undefined) return "not run";
  const { result, reason, times } = run;
  if (times === undefined) return reason === undefined ? result : `not run: ${reason}`;
  return `${result}, ${times.start} + ${times.scenario} s`;
}

/**
 * Writes the page.
 *
 * @param runs the runs of a day
 */
export function kubernetesPage({ date, runs }: Runs): string {
  const titles = [...new Set(runs.map(({ title }) => title))];
  const runOf = (title: string, name: ScenarioRun["executable"]) =>
    runs.find((run) => run.title === title && run.executable === name);
  const rows = titles.map((title) => {
    const results = (["portable", "native"] as const).map((name) => resultOf(runOf(title, name)));
    return `| [${title}](#${anchorOf(title)}) | ${results.join(" | ")} |`;
  });
  const sections = titles.map((title) => {
    const run = runOf(title, "native") ?? runOf(title, "portable");
    return `## ${title}\n\n${run === undefined ? "" : evidenceOf(run, LONGEST)}\n`;
  });
  const version = [...new Set(runs.flatMap((run) => run.version ?? []))].join(" or ");
  const introduction = `These scenarios were run on ${date} with ${version}, each with both executables unless it says otherwise, in a new cluster of one node: etcd, API server, controller manager with its node IPAM controller, scheduler, kubelet and containerd from Debian, in namespaces of their own. The times are those of the start of the cluster and of the scenario. Below is what was seen with the native executable; output of more than ${LONGEST} lines is in the [data](../data/kubernetes.json).`;
  return `# In a real Kubernetes

<!-- Written by \`npm run test:kubernetes -- --write\` from data/kubernetes.json. -->

${wrap(introduction, WIDTH).join("\n")}

| scenario | portable | native |
|---|---|---|
${rows.join("\n")}

\`npm run test:kubernetes\` builds the cluster's programs once, which takes twenty minutes, into \`build/\`, installs
nothing, and runs the scenarios; with \`-- --write\` it writes this page.

${sections.join("\n")}`;
}

/** As GitHub makes it of a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, "")
    .replaceAll(" ", "-");
}
