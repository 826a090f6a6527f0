import type { Command, Context, Report } from "../../cli/command/command.ts";
import { parseDuration } from "../../cli/command/duration.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { logUnreadable } from "../held/network-directory.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import { type Node, openNode } from "../node.ts";
import { describeReservations } from "./describe-reservation.ts";
import { reservationTable } from "./reservation-table.ts";

/** What `--sort` compares; networks stay in order among equals. */
const sortKeys: Readonly<
  Record<string, (one: KnownReservation, node: Node) => string | number | bigint>
> = {
  network: () => "",
  address: ({ reservation: { address } }) => (BigInt(address.family) << 128n) + address.value,
  age: ({ reservation }) => reservation.since ?? Number.POSITIVE_INFINITY,
  container: ({ reservation }) => containerOf(reservation.owner),
  pod: ({ reservation }, { cache }) => cache.podOf(reservation),
};

/** `list`: lists reservations. */
export const list: Command = {
  name: "list",
  operands: "[NETWORK]",
  findsNetworks: true,
  summary: "list reservations with address, container, interface, age and pod",
  description: [
    "Lists the reservations of one network, or of all, sorted by address. The pod is the one that libcni's cache names; of Nomad's networks of mode cni/NETWORK it is the job. ALIVE says whether the container is alive, by the network namespaces of the node (show says why); the column is omitted if that is unknown for all of them. BOOT marks reservations from before this boot of the node, which ADD uses again when their range is otherwise full; the column is omitted if there are none.",
    "On a terminal, container ids are shortened (show prints them in full) and the table is fitted to its width.",
  ],
  options: [
    { name: "--pod", value: "POD", summary: "only those of a pod, as NAMESPACE/NAME or NAME" },
    { name: "--namespace", value: "NAMESPACE", summary: "only those of pods in a namespace" },
    {
      name: "--older-than",
      value: "DURATION",
      summary: "only those older than this, such as 90s, 10m, 3h or 12d",
    },
    {
      name: "--sort",
      value: "KEY",
      values: Object.keys(sortKeys),
      summary: "network (the default), address, age (oldest first), container or pod",
    },
    { name: "--dead", summary: "only those of dead containers" },
    { name: "--unknown", summary: "only those of which it is not known" },
    { name: "--no-headers", summary: "leave out the headings" },
  ],
  examples: [
    { line: "host-local list", effect: "list the reservations of all networks" },
    { line: "host-local list mynet --json", effect: "list those of one network as JSON" },
    {
      line: "host-local list --namespace kube-system --sort age",
      effect: "list those of the pods in a namespace, the oldest first",
    },
  ],
  run: listNetworks,
};

function listNetworks(context: Context): Report {
  const { system, operands, option, has } = context;
  const isIncluded = filterOf(context, system.now());
  const node = openNode(context, operands[0]);
  logUnreadable(context, node.askedReservations());
  const known = sorted(
    node,
    node.liveness.livenessOfAll(node.askedReservations()).filter((one) => isIncluded(one, node)),
    option("--sort") ?? "network",
  );
  return {
    exitCode: 0,
    // Only the form that is printed is made: there may be tens of thousands of reservations.
    document: () => ({ reservations: describeReservations(node, known) }),
    text: () => {
      const isAliveShown = known.some(({ conclusion }) => conclusion.liveness !== "unknown");
      return reservationTable(node, known, isAliveShown, has("--no-headers"));
    },
  };
}

/** @throws UsageError if the age is invalid */
function filterOf(
  { option, has }: Context,
  now: number,
): (one: KnownReservation, node: Node) => boolean {
  const pod = option("--pod");
  const namespace = option("--namespace");
  const age = option("--older-than");
  const before = age === undefined ? undefined : now - parseDuration(age, "--older-than");
  const shown = ["dead", "unknown"].filter((liveness) => has(`--${liveness}`));
  const isOfPod = (name: string): boolean =>
    (pod === undefined || name === pod || name.endsWith(`/${pod}`)) &&
    (namespace === undefined || name.startsWith(`${namespace}/`));
  const isAnyPod = pod === undefined && namespace === undefined;
  return ({ reservation, conclusion }, { cache }) =>
    (shown.length === 0 || shown.includes(conclusion.liveness)) &&
    (isAnyPod || isOfPod(cache.podOf(reservation))) &&
    (before === undefined || (reservation.since ?? now) < before);
}

function sorted(
  node: Node,
  entries: readonly KnownReservation[],
  key: string,
): readonly KnownReservation[] {
  const compared = sortKeys[key] ?? (() => "");
  return entries
    .map((entry) => ({ entry, value: compared(entry, node) }))
    .sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0))
    .map(({ entry }) => entry);
}
