/** The matrix of clients: the results of their runs, and the page about it. */

/** One run of a client's scenario with one executable. */
export interface ClientRun {
  readonly client: string;
  readonly scenario: string;
  readonly executable: "native" | "portable";
  /** The client's version; empty if it did not run. */
  readonly version: string;
  /** The values of `CNI_COMMAND` that reached the plugin. */
  readonly verbs: readonly string[];
  readonly result: "passed" | "failed" | "skipped";
  /** Why it was skipped, in a sentence. */
  readonly reason?: string;
  /** The date of the run, such as `2025-01-31`. */
  readonly date: string;
}

/** The last run of each client, as docs/data/compatibility.json has them. */
export interface Matrix {
  readonly runs: readonly ClientRun[];
}

/** The runs of today; those that were skipped today are replaced by earlier runs. */
export function latest(today: readonly ClientRun[], before: readonly ClientRun[]): ClientRun[] {
  return today.map((run) => {
    const isSame = (former: ClientRun): boolean =>
      former.client === run.client &&
      former.executable === run.executable &&
      former.result !== "skipped";
    return run.result === "skipped" ? (before.find(isSame) ?? run) : run;
  });
}

/** The verbs in the order of a container's life. */
const verbs = ["ADD", "CHECK", "DEL", "GC", "STATUS"];

/**
 * Writes the page of a matrix, with one row for the clients with the same tests and the same verbs.
 *
 * @param matrix the matrix
 */
export function compatibilityPage({ runs }: Matrix): string {
  const clients = [...new Set(runs.map(({ client }) => client))];
  const usual = mostFrequent(runs.map(({ date }) => date));
  const rows = Map.groupBy(clients, (client) => whatWasTested(runs.filter(isOf(client))));
  const lines = [...rows].map(([tested, alike]) => {
    const names = alike.map((client) => nameOf(runs.filter(isOf(client)), usual));
    return `| ${names.join("<br>")} | ${tested} |`;
  });
  return `# Compatibility

<!-- Written by \`npm run test:clients -- --write\` from ../data/compatibility.json. -->

Both executables passed as the IPAM plugin of each client on ${usual}, unless its row says otherwise.

| client and version | verbs that reached the plugin | what was tested |
|---|---|---|
${lines.join("\n")}

- *Allocation cycle*: five addresses. Containers reach each other and get addresses in order and the default route. A released
  address is given again only after the end of the range, a full range is refused, and in the end no reservation or interface is left.
- *A main plugin*: three containers in order, a requested address, CHECK with and without the reservation, and DEL.
- *dranet* ([kubernetes-sigs/dranet](https://github.com/kubernetes-sigs/dranet), \`cmd/webhook-whereabouts\`) calls the plugin itself, with \`CNI_NETNS=/dev/null\`, the claim's id as the container's, and the device as the interface.
  - Set \`"cniVersion": "1.0.0"\` in its profile: otherwise dranet finds no address in the answer, although one is reserved.
  - It reads neither \`gateway\` (a route needs its \`gw\`) nor the error on standard output.
  - Each claim has the pod \`default/pod-whereabouts\`, so \`"sticky": "pod"\` means all of them.
  - It sends no GC. A list of containers lacks its claims, and \`gc\` refuses the list while one is in use.
- The tests fail with plugins that always give the same address, never release, forget the last address, or ignore GC.

\`npm run fetch -- clients user-mode-linux go-plugins cnitool\` fetches the clients from Debian into \`build/\`, and \`npm run
test:clients\` runs them. Debian has no CRI-O, multus or flannel plugin: \`-- --containerd DIR --crio DIR --multus FILE --flannel FILE\` takes executables
built elsewhere, here of 2026-08-21, 2026-08-18 (multus 4) and 2026-05-18. \`npm test\` repeats the recorded calls (\`-- --record\`)
of these, containerd and podman, and calls of Calico with \`usePodCidr\`.
`;
}

function isOf(client: string): (run: ClientRun) => boolean {
  return (run) => run.client === client;
}

/** The last two cells of a client's row. */
function whatWasTested(runs: readonly ClientRun[]): string {
  const verbsSeen = verbs.filter((verb) => runs.some((run) => run.verbs.includes(verb))).join(" ");
  const results = (["portable", "native"] as const)
    .map((name) => ({ name, run: runs.find(({ executable }) => executable === name) }))
    .filter(({ run }) => run?.result !== "passed")
    .map(({ name, run }) => `; ${name}: ${resultOf(run)}`);
  return `${verbsSeen} | ${runs[0]?.scenario ?? ""}${results.join("")}`;
}

/** A client with its version, and with the date if it is not the usual one. */
function nameOf(runs: readonly ClientRun[], usual: string): string {
  const [{ client, date } = { client: "", date: usual }] = runs;
  const version = runs.map((run) => run.version).find((text) => text !== "");
  const known = version === undefined ? client : `${client}: ${version}`;
  return date === usual ? known : `${known} (${date})`;
}

function resultOf(run: ClientRun | undefined): string {
  if (run === undefined) return "not run";
  return run.result === "skipped" ? `not run, ${run.reason ?? ""}` : run.result;
}

function mostFrequent(words: readonly string[]): string {
  const groups = [...Map.groupBy(words, (word) => word).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0] ?? "";
}
