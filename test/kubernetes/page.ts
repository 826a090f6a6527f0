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

/** What a scenario has shown when it passes, by its title; of one that is not here, the page has the first sentence. */
const shown: Readonly<Record<string, string>> = {
  "What audit finds, and the commands that it prints":
    "Missing, shared, overlapping and wrongly sized podCIDRs are found. The printed commands, pasted node by node, repair them all; pasted twice they stop before they change anything. With a podCIDR outside the cluster CIDR kube-controller-manager ends; after the commands it starts.",
  "kubelet and containerd are killed, and the power fails":
    "After SIGKILL the pods keep sandboxes and addresses. After a loss of power kubelet has the old sandboxes stopped, and a full range serves the pods again. If `/var/lib/containerd` is lost as well, no DEL comes: ADD takes the addresses from before the boot, without a command.",
  "The DaemonSet installs the plugin from the image of the release":
    "Installed under running pods; a file overwritten by another installer is put back within a minute; `--uninstall` restores the Go plugin. The manifests are applied as they are from Kubernetes 1.30 on. The address of a forgotten pod is released; with containerd before 2.1 gc cannot tell whether it is dead: it releases nothing, the agent becomes unready, and gc with `crictl pods -q` releases the address.",
  "The gc of the DaemonSet frees what a crash leaves, also in a full range":
    "With the range full of leaked addresses no pod can start; the agent needs no address, releases them, and the pods come back without a command.",
  "A node of the Go plugin whose range is full of dead pods":
    "With the Go plugin 13 of 13 pods stay without an address after the loss of power. The DaemonSet is applied, with a gc every 10 s in place of 15 min, and within a minute all of them run.",
  "A /29 holds five pods":
    "The event of the sixth pod is the plugin's message, word by word; it gets the address of the next pod that ends.",
  "containerd is killed while pods are created": "No address leaks; every pod runs and is reached.",
  "The directory of containerd is lost, and addresses leak":
    "The forgotten containers run on: gc refuses a list that lacks them. After their end gc releases their addresses, with containerd before 2.1 by a list, and a waiting pod gets one. The boot id stays the same, as in kind.",
  "More nodes than podCIDRs, as plan says beforehand":
    "The fifth node gets no podCIDR (`CIDRNotAvailable`) and stays NotReady, until kube-controller-manager has the cluster CIDR that `plan` proposes.",
  "From the podCIDR to the addresses of pods":
    "containerd writes its configuration from `conf-examples/containerd.conflist.template`; the API, `host-local list` and the pods agree; after their end nothing is reserved.",
  "The Go plugin is replaced under living pods, and put back":
    "Both plugins free each other's addresses and continue the same cursor; no address is used twice, no container restarts.",
  "The scheduler counts addresses":
    "With the resource (by patch, or by node-feature-discovery's file) or with `maxPods`, the sixth pod of a /29 stays Pending in place of failing. Kubernetes 1.20: a kubelet without its checkpoint of device plugins sets the resource to 0; the patch restores it. node-feature-discovery's own patch is simulated.",
  "An address of each family":
    "A dual-stack cluster: each pod has two addresses, and `audit` knows all its ServiceCIDR objects.",
  "STATUS makes a node NotReady whose configuration is wrong, but not one whose range is full":
    "Five pods on a /29 leave the node ready; a configuration that leaves no address makes it NotReady, and its pods run on.",
  "Rollouts with sticky, reuseDelaySeconds and history while kubelet and containerd are killed":
    "A Deployment and a StatefulSet are rolled out three times: never an address twice, each in the history, the StatefulSet's pods keep theirs, and no other pod gets one before its time.",
  "64 pods in waves":
    "Waves of 16 pods on a /26, half of the former deleted meanwhile: never an address twice in the API or in the node's namespaces.",
  "One network definition for all nodes, and no address twice":
    "`partition`, with nodes added and drained: 60 pods have 60 addresses. The Go plugin gives the same ones on each node.",
};

/** What a run showed, as Markdown. */
export function evidenceOf({ evidence }: ScenarioRun): string {
  return evidence
    .map(({ sentence, seen }) => {
      if (seen === undefined) return sentence;
      const lines = seen.trimEnd().split("\n");
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
    const run = runs.find((one) => one.title === title && one.evidence.length > 0);
    const first = run?.evidence[0]?.sentence.replace(/:$/, ".") ?? "";
    return row([`**${title}.** ${shown[title] ?? first}`, ...results]);
  });
  const programs = all.map(
    ({ dates, kubernetes, containerd }) =>
      `on ${dates} with Kubernetes ${kubernetes} and containerd ${containerd}`,
  );
  const introduction = `These scenarios were run ${programs.join(", and ")}, with both executables, in a new cluster of one node: etcd, API server, controller manager with its node IPAM controller, scheduler, kubelet and containerd, in namespaces of their own. The control plane is another machine when the power fails; the kernel is not started again, and the disk keeps what was written. The [data](../data/kubernetes.json) has each step with its output.`;
  return `# In a real Kubernetes

<!-- Written by \`npm run test:kubernetes -- --write\` from data/kubernetes.json. -->

${wrap(introduction, WIDTH).join("\n")}

${row(["scenario", ...headings])}
|${"---|".repeat(headings.length + 1)}
${rows.join("\n")}

\`npm run test:kubernetes\` builds a Kubernetes of Debian's source once, which takes twenty minutes, into \`build/\`, installs
nothing, and runs the scenarios; \`-- --binaries DIR\` takes the programs of upstream's server archive instead, \`-- --write\`
writes this page. Times are those of the start of the cluster and of the scenario.
`;
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
    const [, kubernetes, containerd] =
      /^Kubernetes v(.+), containerd v?([^+]+)/.exec(version) ?? [];
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
