/** The page about the last run of each scenario. */

import { wrap } from "../../src/cli/output/wrap.ts";

/** One run of a scenario with one executable. */
export interface ScenarioRun {
  /** The date, such as `2025-01-31`. */
  readonly date: string;
  readonly title: string;
  readonly executable: "native" | "portable";
  /** Set if the node was a container with a PID namespace of its own; otherwise it was in the machine's first PID namespace. */
  readonly node?: "container";
  readonly result: "passed" | "failed" | "skipped";
  /** Why it was skipped, in a sentence. */
  readonly reason?: string;
  /** The programs of the cluster, if it was started. */
  readonly version?: string;
  /** The seconds until the cluster was up, and from then on. */
  readonly times?: { readonly start: number; readonly scenario: number };
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
    ({ title, executable, node }) =>
      !runs.some(
        (run) => run.title === title && run.executable === executable && run.node === node,
      ),
  );
  return [...kept, ...runs].toSorted((a, b) => a.title.localeCompare(b.title, "en"));
}

/** The width of the pages in docs/. */
const WIDTH = 120;

/** What a passed scenario has shown, by its title. */
export const shown: Readonly<Record<string, string>> = {
  "What audit finds, and the commands that it prints":
    "The printed commands, pasted node by node, repair missing, shared, overlapping and wrongly sized podCIDRs. Pasted twice they change nothing. A podCIDR outside the cluster CIDR ends kube-controller-manager; after the commands it starts.",
  "kubelet and containerd are killed, and the power fails":
    "After SIGKILL the pods keep their addresses. After a loss of power a full range serves the pods again. If `/var/lib/containerd` is lost as well, no DEL comes: ADD takes the addresses from before the boot.",
  "The DaemonSet installs the plugin from the image of the release":
    "Under running pods. A file that another installer overwrites is put back within a minute; `--uninstall` restores the Go plugin. The address of a forgotten pod is released.",
  "The gc of the DaemonSet frees what a crash leaves, also in a full range":
    "The range is full of leaked addresses. The agent, which needs no address, releases them, and pods start again.",
  "A node of the Go plugin whose range is full of dead pods":
    "After the loss of power 13 of 13 pods stay without an address. The DaemonSet is applied, with a gc every 10 s in place of 15 min, and within a minute all run.",
  "A /29 holds five pods":
    "The event of the sixth pod is the plugin's message; it gets the address of the next pod that ends.",
  "The directory of containerd is lost, and addresses leak":
    "The forgotten containers run on, and gc refuses a list that lacks them. After their end it releases their addresses.",
  "More nodes than podCIDRs, as plan says beforehand":
    "The fifth node gets no podCIDR (`CIDRNotAvailable`) and stays NotReady, until kube-controller-manager has the cluster CIDR that `plan` proposes.",
  "From the podCIDR to the addresses of pods":
    "containerd writes its configuration from `conf-examples/containerd.conflist.template`. API, `host-local list` and pods agree.",
  "The Go plugin is replaced under living pods, and put back":
    "Both free each other's addresses and continue the same cursor. No address is used twice, no container restarts.",
  "The scheduler counts addresses":
    "With the resource (node-feature-discovery's patch is simulated) or with `maxPods`, the sixth pod of a /29 stays Pending in place of failing.",
  "An address of each family":
    "A dual-stack cluster: each pod has two addresses, and `audit` knows all its ServiceCIDR objects.",
  "STATUS makes a node NotReady whose configuration is wrong, but not one whose range is full":
    "Five pods on a /29 leave the node ready; a configuration that leaves no address makes it NotReady, and its pods run on.",
  "Rollouts with sticky, reuseDelaySeconds and history while kubelet and containerd are killed":
    "Three rollouts of a Deployment and a StatefulSet: never an address twice, each in the history, and the StatefulSet's pods keep theirs.",
  "A Job of 200 pods on a /25 while kubelet and containerd are killed":
    "150 at one time want 125 addresses, and both programs are killed twice. 200 pods succeed, no address is in two namespaces, and nothing stays reserved after one gc.",
  "The DaemonSet is rolled out and taken away under a Job of 150 pods":
    "In place of the Go plugin and back to it, while pods start and end. No pod and no sandbox fails, and no address is in two namespaces.",
  "Pods with hostUsers: false":
    "Each has a user namespace. gc and check see that they live; after a loss of power with `/var/lib/containerd` the next pods get their addresses (not in a container).",
  "StatefulSets with reserved and requested are force-deleted in a full range":
    "Five times, while other pods wait for an address: each comes back with its own, and no address is in two namespaces.",
  "/var/lib/cni is deleted under running pods":
    "No pod gets the address of another that runs, though it is not reserved; `check` tells of them, and their end frees it.",
  "multus gives pods a second address":
    "multus 4, thin, on a bridge with a range of five addresses: the sixth pod waits, gets the address of a force-deleted one, and after a loss of power the next pods get those of the dead (not in a container).",
  "One network definition for all nodes, and no address twice":
    "`partition`, with nodes added and drained: 60 pods have 60 addresses. The Go plugin gives the same ones on each node.",
};

/** How a run ended, in a few words. */
export function resultOf({ result, reason, times }: ScenarioRun): string {
  if (times === undefined) return reason === undefined ? result : `not run: ${reason}`;
  return `${result}, ${times.start} + ${times.scenario} s`;
}

/** The executables with which a scenario passed; another kind of result in its own words. */
function passedOf(runs: readonly ScenarioRun[], title: string, node: ScenarioRun["node"]): string {
  const ran = (["portable", "native"] as const).flatMap((name) => {
    const run = runs.find(
      (last) => last.title === title && last.executable === name && last.node === node,
    );
    return run?.times === undefined ? [] : [{ name, result: run.result }];
  });
  const others = ran.filter(({ result }) => result !== "passed");
  if (others.length > 0) return others.map(({ name, result }) => `${name}: ${result}`).join(", ");
  return ran.length === 2 ? "both" : (ran[0]?.name ?? "–");
}

/**
 * Writes the page.
 *
 * @param runs the last run of each scenario with each executable, as docs/data/kubernetes.json has them
 */
export function kubernetesPage(runs: readonly ScenarioRun[]): string {
  const titles = [...new Set(runs.map(({ title }) => title))];
  const rows = titles.map(
    (title) =>
      `| **${title}.** ${shown[title]} | ${passedOf(runs, title, undefined)} | ${passedOf(runs, title, "container")} |`,
  );
  const [first = "", ...later] = distinct(runs.map(({ date }) => date));
  const dates = later.length === 0 ? `on ${first}` : `from ${first} to ${later.at(-1)}`;
  const programs = distinct(
    runs.flatMap(({ version }) => (version === undefined ? [] : [programsOf(version)])),
  ).join(" or ");
  const introduction = `These scenarios were run ${dates} with ${programs}, each in a new cluster of one node, among the processes of the machine (its first PID namespace, Linux 6.18) and in a node that is a container (a PID namespace of its own, as with kind), where the kernel does not tell by handles what lives. When the power fails, the control plane runs on; the kernel is not started again, and the disk keeps what was written. Each is told by its file in [test/kubernetes](../../test/kubernetes).`;
  return `# In a real Kubernetes

<!-- Written by \`npm run test:kubernetes -- --write\` from data/kubernetes.json. -->

${wrap(introduction, WIDTH).join("\n")}

| scenario | passed with | in a node that is a container |
|---|---|---|
${rows.join("\n")}

\`npm run test:kubernetes -- --binaries DIR\` runs them with the programs of upstream's server archive, and installs nothing;
\`--contained\` makes the node a container, \`--write\` writes this page. runc 1.2 and multus, which Debian 12 does not have, are taken
from DIR, too. The image of the DaemonSet has the native executable alone. Where gc has to decide by processes, the node is always a
container: elsewhere the machine's own are in a network namespace that the node does not know.
`;
}

/** The programs in words: `Kubernetes 1.36.2 and containerd 2.1.9` for `Kubernetes v1.36.2, containerd 2.1.9+unknown`. */
function programsOf(version: string): string {
  return version.replaceAll(/\bv(?=\d)|\+\w+/g, "").replace(", ", " and ");
}

function distinct(all: readonly string[]): readonly string[] {
  return [...new Set(all)].toSorted();
}
