import type { Command, Context } from "../../cli/command/command.ts";
import { isPodNamed } from "../../cni/pod.ts";
import { formatAddress } from "../../ipam/address.ts";
import { readHistory } from "../../store/history/history-file.ts";
import { type HistoryRecord, podWord } from "../../store/history/history-record.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import {
  logUnreadable,
  type NetworkDirectory,
  type NodeReservation,
} from "../held/network-directory.ts";
import { commandText } from "../next-command.ts";
import { type Node, openNode, parseQuery, type Query } from "../node.ts";
import { type Answer, answersDocument, formatAnswers } from "./answer.ts";
import { parseTime } from "./time.ts";

/** `history`: what happened to an address, when. */
export const history: Command = {
  name: "history",
  operands: "[ADDRESS|CONTAINER|POD]",
  findsNetworks: true,
  summary: "show who got an address and when it was released, and who holds it now",
  description: [
    'Reads the history that the plugin keeps with "history": true, and prints a line for each time that the address was reserved or released: when, by which verb, and of which container. The operand is an address, a container id or the beginning of one, or a pod as NAMESPACE/NAME, as the runtime passed it in CNI_ARGS, or NAME. Without it, the events of all addresses are printed. Below, it says when the history begins and, in the last line, who holds the address now.',
    "A TIME is in UTC: 03:00 (the last one), 2026-01-31 03:00, ISO 8601 such as 2026-01-31T03:00:00+01:00, or a duration ago such as 90s, 10m, 3h or 12d.",
    "ADD reserves, every other event releases. The Go plugin writes no history, and a line may be missing after a kill or a full disk: then an ADD follows an ADD, or a DEL a DEL.",
    "Exit code 1 means that no event was found.",
  ],
  options: [
    {
      name: "--at",
      value: "TIME",
      summary: "only the last event up to this time, of each address: an ADD holds it then",
    },
    { name: "--since", value: "TIME", summary: "only the events at this time or later" },
    { name: "--network", value: "NETWORK", summary: "search this network only" },
  ],
  exclusive: [["--at", "--since"]],
  examples: [
    { line: "host-local history 10.88.0.7", effect: "show who got the address, and when" },
    {
      line: "host-local history 10.88.0.7 --at 03:00",
      effect: "show who held it at three in the morning, UTC",
    },
    {
      line: "host-local history --since 3m --network mynet",
      effect: "show what happened in a network in the last three minutes",
    },
    {
      line: "host-local history default/web --since 12d --json",
      effect: "show as JSON which addresses a pod got and gave back in the last twelve days",
    },
  ],
  run: (context) => {
    const [operand] = context.operands;
    const network = context.option("--network");
    const query = operand === undefined ? undefined : parseQuery(operand);
    const choose = choiceOf(context);
    const node = openNode(context, network, (files) => readHistory(files) !== undefined);
    const histories = node.directories.map((directory) => ({
      directory,
      records: readHistory(directory.files) ?? [],
    }));
    const asked = query && meantBy(query, node, histories);
    const answers = histories.map((one): Answer => {
      const answer = asked === undefined ? wholeAnswer(one) : answerFor(node, one, asked);
      return { ...answer, events: choose(answer.all) };
    });
    const command = commandText(context, undefined, [
      "history",
      ...(operand === undefined ? [] : [operand]),
      ...(network === undefined ? [] : ["--network", network]),
    ]);
    return {
      exitCode: answers.some(({ events }) => events.length > 0) ? 0 : 1,
      document: () => answersDocument(answers),
      text: () => formatAnswers(context.system, answers, operand, command),
    };
  },
};

/** The history of one network. */
interface NetworkHistory {
  readonly directory: NetworkDirectory;
  readonly records: readonly HistoryRecord[];
}

/**
 * Which events are asked for.
 *
 * @throws UsageError on an invalid time
 */
function choiceOf({
  system,
  option,
}: Context): (events: readonly HistoryRecord[]) => readonly HistoryRecord[] {
  const now = system.now();
  const at = option("--at");
  const since = option("--since");
  if (at !== undefined) {
    const time = parseTime(at, "--at", now);
    return (events) => lastOfEach(events.filter((one) => one.time <= time));
  }
  if (since === undefined) return (events) => events;
  const time = parseTime(since, "--since", now);
  return (events) => events.filter((one) => one.time >= time);
}

/** The last event of each address. */
function lastOfEach(events: readonly HistoryRecord[]): readonly HistoryRecord[] {
  return [...new Map(events.map((one) => [one.address, one])).values()];
}

/**
 * What an operand means: the pods of that name, in whatever namespace or without one, if it looks like the id of a container
 * and nothing known begins with it.
 */
function meantBy(query: Query, node: Node, histories: readonly NetworkHistory[]): readonly Query[] {
  if (query.kind !== "container") return [query];
  const records = histories.flatMap((one) => one.records);
  const { reservations, cache } = node;
  const isKnown =
    records.some(matcherOf(query)) ||
    reservations.some(({ owner }) => containerOf(owner).startsWith(query.id));
  if (isKnown) return [query];
  const pods = [...records.map(({ pod }) => pod), ...reservations.map((one) => cache.podOf(one))];
  const named = new Set(pods.filter((pod) => isPodNamed(pod, query.id)));
  return named.size === 0 ? [query] : [...named].map((pod) => ({ kind: "pod", pod }));
}

/** Everything known in one network; who holds what now is for `list` to say. */
function wholeAnswer({ directory, records }: NetworkHistory): Omit<Answer, "events"> {
  const { network } = directory.files;
  return { network, begin: records[0]?.time, all: records, holders: [] };
}

/** What is known in one network of what was asked for. */
function answerFor(
  { context, cache }: Node,
  { directory, records }: NetworkHistory,
  queries: readonly Query[],
): Omit<Answer, "events"> {
  const { files } = directory;
  const matchers = queries.map(matcherOf);
  const named = records.filter((record) => matchers.some((matches) => matches(record)));
  // A release by a command or GC does not name the pod, but its container.
  const containers = new Set(named.map(({ container }) => container).filter((one) => one !== ""));
  const [query] = queries;
  const isByAddress = query?.kind === "address";
  const present = isByAddress ? directory.reservationsAt(query.address) : directory.reservations;
  logUnreadable(context, present);
  const isHolder = ({ reservation: { owner }, pod }: Answer["holders"][number]): boolean => {
    if (isByAddress) return true;
    const container = containerOf(owner);
    if (container === "") return false;
    if (containers.has(container)) return true;
    return queries.some((one) => isHeldFor(one, container, pod));
  };
  const withPod = (reservation: NodeReservation): Answer["holders"][number] => ({
    reservation,
    pod: cache.podOf(reservation),
  });
  return {
    network: files.network,
    begin: records[0]?.time,
    all: isByAddress ? named : records.filter(({ container }) => containers.has(container)),
    holders: present.map(withPod).filter(isHolder),
  };
}

function isHeldFor(query: Query, container: string, pod: string): boolean {
  switch (query.kind) {
    case "address":
      return false;
    case "pod":
      return pod === query.pod;
    case "container":
      return container.startsWith(query.id);
  }
}

/** A container is found by its id or the beginning of it. */
function matcherOf(query: Query): (record: HistoryRecord) => boolean {
  switch (query.kind) {
    case "address": {
      const address = formatAddress(query.address);
      return (record) => record.address === address;
    }
    case "pod":
      return ({ pod }) => pod === query.pod || pod === podWord(query.pod);
    case "container":
      return ({ container }) => container.startsWith(query.id);
  }
}
