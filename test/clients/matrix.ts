/** The matrix of clients: what their runs left behind, and the page about it. */

/** One run of a client's scenario with one executable. */
export interface ClientRun {
  readonly client: string;
  readonly scenario: string;
  readonly executable: "native" | "portable";
  /** Empty where it did not run. */
  readonly version: string;
  /** The values of `CNI_COMMAND` that reached the plugin. */
  readonly verbs: readonly string[];
  readonly result: "passed" | "failed" | "skipped";
  /** Why it was skipped, in a sentence. */
  readonly reason?: string;
  /** When it was, such as `2025-01-31`. */
  readonly date: string;
}

/** The last run of each client, as docs/data/compatibility.json has them. */
export interface Matrix {
  readonly runs: readonly ClientRun[];
}

/** The runs of today, and for what was skipped today those before. */
export function latest(today: readonly ClientRun[], before: readonly ClientRun[]): ClientRun[] {
  return today.map((run) => {
    const isSame = (one: ClientRun): boolean =>
      one.client === run.client && one.executable === run.executable && one.result !== "skipped";
    return run.result === "skipped" ? (before.find(isSame) ?? run) : run;
  });
}

/** The verbs in the order of a container's life. */
const verbs = ["ADD", "CHECK", "DEL", "GC", "STATUS"];

/**
 * Writes the page of a matrix.
 *
 * @param matrix the matrix
 */
export function compatibilityPage({ runs }: Matrix): string {
  const clients = [...new Set(runs.map(({ client }) => client))];
  const rows = clients.map((client) => rowOf(runs.filter((run) => run.client === client)));
  return `# Compatibility

<!-- Written by \`npm run test:clients -- --write\` from ../data/compatibility.json. -->

These clients were run with both executables as their IPAM plugin, each in namespaces of its own. The verbs are those that a
recording program in front of the plugin saw.

| client | version | verbs seen | portable | native | date | what was tested |
|---|---|---|---|---|---|---|
${rows.join("\n")}

- *Life of a range*: five addresses for containers. Containers start, reach each other, get the addresses in order and the
  default route; the end of one frees its address, which is given again only after the end of the range; a full range is
  refused in the plugin's words; in the end nothing is reserved and no interface is left.
- *A main plugin*: three containers in order, a requested address, CHECK, also without the reservation, and DEL.
- *dranet* ([kubernetes-sigs/dranet](https://github.com/kubernetes-sigs/dranet), \`cmd/webhook-whereabouts\`) calls the plugin
  itself: ADD and DEL alone, with \`CNI_NETNS=/dev/null\`, the id of the claim in place of a container's, and the device in place
  of the interface. Set \`"cniVersion": "1.0.0"\` in its profile: without one the answer is of 0.1.0, in which it finds no address,
  and the device gets none although one is reserved. It reads no \`gateway\` of an address (a route needs its \`gw\`) and no error,
  which is on standard output. Each claim has the pod \`default/pod-whereabouts\`: \`"sticky": "pod"\` means all of
  them. Nothing sends GC; a list of containers lacks its claims, and \`gc\` refuses it as long as one is in use.
- The same tests fail with plugins that always give the same address, never release, forget the last address, or ignore GC.

\`npm run fetch -- clients user-mode-linux go-plugins cnitool\` fetches the clients from Debian into \`build/\`, and installs
nothing. \`npm run test:clients\` runs them, and with \`-- --write\` writes this page. Debian does not have
CRI-O, multus and flannel's plugin: \`-- --crio DIR --multus FILE --flannel FILE\` takes programs that somebody has built. These
were of 2026-08-21 (CRI-O), 2026-08-10 (multus 4, without a version of its own) and 2026-05-18 (flannel's plugin).

What CRI-O, multus, flannel, containerd and podman called, with environment and standard input, is recorded in
\`test/blackbox/client-calls\` (\`-- --record\`): \`npm test\` makes these calls again, and those of Calico with \`usePodCidr\`, which
are written from its source, and expects the same answers.
`;
}

function versionsOf(runs: readonly ClientRun[]): readonly string[] {
  return [...new Set(runs.map(({ version }) => version))].filter((version) => version !== "");
}

function verbsOf(runs: readonly ClientRun[]): string {
  return verbs.filter((verb) => runs.some((run) => run.verbs.includes(verb))).join(" ");
}

function rowOf(runs: readonly ClientRun[]): string {
  const [first] = runs;
  const cells = [
    first?.client ?? "",
    versionsOf(runs)[0] ?? "",
    verbsOf(runs),
    ...(["portable", "native"] as const).map((name) =>
      resultOf(runs.find(({ executable }) => executable === name)),
    ),
    first?.date ?? "",
    first?.scenario ?? "",
  ];
  return `| ${cells.join(" | ")} |`;
}

function resultOf(run: ClientRun | undefined): string {
  if (run === undefined) return "not run";
  return run.result === "skipped" ? `not run: ${run.reason ?? ""}` : run.result;
}
