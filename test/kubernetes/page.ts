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
  /** Such as `2025-01-31`. */
  readonly date: string;
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

/** The last run of each scenario with either programs, as docs/data/kubernetes.json has them. */
export interface Results {
  /** With those that somebody gave. */
  readonly given?: readonly ScenarioRun[];
  /** With those that were built of Debian's source. */
  readonly built?: readonly ScenarioRun[];
}

/**
 * Puts new runs in the place of former ones.
 *
 * @param before the former ones
 * @param runs the new ones
 */
export function updated(
  before: readonly ScenarioRun[],
  runs: readonly ScenarioRun[],
): readonly ScenarioRun[] {
  const kept = before.filter(
    ({ title, executable }) =>
      !runs.some((run) => run.title === title && run.executable === executable),
  );
  return [...kept, ...runs].toSorted((a, b) => a.title.localeCompare(b.title, "en"));
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
 * @param results the runs
 */
export function kubernetesPage({ given, built }: Results): string {
  const all = [given, built].flatMap((runs) => (runs === undefined ? [] : [columnsOf(runs)]));
  const runs = all.flatMap((one) => one.runs);
  const titles = [...new Set(runs.map(({ title }) => title))];
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const headings = all.flatMap(({ kubernetes }) => [
    `${kubernetes}, portable`,
    `${kubernetes}, native`,
  ]);
  const rows = titles.map((title) => {
    const results = all.flatMap((one) =>
      (["portable", "native"] as const).map((name) => resultOf(runOf(one.runs, title, name))),
    );
    return row([`[${title}](#${anchorOf(title)})`, ...results]);
  });
  const sections = titles.map((title) => {
    const shown = all.flatMap((one) => runOf(one.runs, title, "native") ?? []);
    const run = shown.find(({ result }) => result === "passed") ?? shown[0];
    return `## ${title}\n\n${run === undefined ? "" : evidenceOf(run, LONGEST)}\n`;
  });
  const programs = all.map(
    ({ dates, kubernetes, containerd }) =>
      `on ${dates} with Kubernetes ${kubernetes} and containerd ${containerd}`,
  );
  const introduction = `These scenarios were run ${programs.join(", and ")}, each with both executables unless it says otherwise, in a new cluster of one node: etcd, API server, controller manager with its node IPAM controller, scheduler, kubelet and containerd, in namespaces of their own. The times are those of the start of the cluster and of the scenario. Below is what was seen with the native executable and the first of these Kubernetes that ran the scenario; output of more than ${LONGEST} lines, and what was seen otherwise, is in the [data](../data/kubernetes.json).`;
  return `# In a real Kubernetes

<!-- Written by \`npm run test:kubernetes -- --write\` from data/kubernetes.json. -->

${wrap(introduction, WIDTH).join("\n")}

${row(["scenario", ...headings])}
|${"---|".repeat(headings.length + 1)}
${rows.join("\n")}

\`npm run test:kubernetes\` builds a Kubernetes of Debian's source once, which takes twenty minutes, into \`build/\`, installs
nothing, and runs the scenarios; with \`-- --binaries DIR\` it takes the programs of upstream's server archive instead; with
\`-- --write\` it writes this page.

${sections.join("\n")}`;
}

/** Runs, and the programs in them. */
interface Columns {
  readonly runs: readonly ScenarioRun[];
  /** Such as `2025-01-31` or `2025-01-31 and 2025-02-01`. */
  readonly dates: string;
  /** Such as `1.36.2`. */
  readonly kubernetes: string;
  /** Such as `1.6.20 or 2.1.9`. */
  readonly containerd: string;
}

function columnsOf(runs: readonly ScenarioRun[]): Columns {
  const versions = runs.flatMap(({ version = "" }) => {
    const [, kubernetes, containerd] = /^Kubernetes v(.+), containerd v?(.+)$/.exec(version) ?? [];
    return kubernetes === undefined || containerd === undefined ? [] : [{ kubernetes, containerd }];
  });
  const distinct = (all: readonly string[], word: string) =>
    [...new Set(all)].toSorted().join(` ${word} `);
  return {
    runs,
    dates: distinct(
      runs.map(({ date }) => date),
      "and",
    ),
    kubernetes: distinct(
      versions.map(({ kubernetes }) => kubernetes),
      "or",
    ),
    containerd: distinct(
      versions.map(({ containerd }) => containerd),
      "or",
    ),
  };
}

function runOf(
  runs: readonly ScenarioRun[],
  title: string,
  name: ScenarioRun["executable"],
): ScenarioRun | undefined {
  return runs.find((run) => run.title === title && run.executable === name);
}

/** As GitHub makes it of a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, "")
    .replaceAll(" ", "-");
}
