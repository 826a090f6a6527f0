import type { Command, Context } from "../../cli/command/command.ts";
import { isPodNamed } from "../../cni/pod.ts";
import { formatAddress } from "../../ipam/address.ts";
import type { CallRecord } from "../../store/failed-calls/failed-call.ts";
import { readFailedCalls } from "../../store/failed-calls/failed-calls-file.ts";
import { readHistory } from "../../store/history/history-file.ts";
import { type HistoryRecord, podWord } from "../../store/history/history-record.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { recover } from "../../system/system.ts";
import {
  logUnreadable,
  type NetworkDirectory,
  type NodeReservation,
} from "../held/network-directory.ts";
import { isCallOf } from "../judgements/calls.ts";
import { commandText } from "../next-command.ts";
import { type Node, openNode, parseQuery, type Query } from "../node.ts";
import {
  type Answer,
  answersDocument,
  type Beginning,
  formatAnswers,
  type HistoryEvent,
  isFailure,
} from "./answer.ts";
import { parseTime } from "./time.ts";

/** `history`: what happened to an address, when. */
export const history: Command = {
  name: "history",
  operands: "[ADDRESS|CONTAINER|POD]",
  findsNetworks: true,
  summary:
    "show who got an address and when it was released, which calls failed, and who holds it now",
  description: [
    'Reads the history that the plugin keeps with "history": true, and prints a line for each time that the address was reserved or released: when, by which verb, and of which container. Without that key, too, each call since the machine booted is printed that failed (ADD failed, with what the runtime was told), or gave the address of a pod back within a second of its ADD (DEL returned: a plugin after this one may fail). The operand is an address, a container id or the beginning of one, or a pod as NAMESPACE/NAME, as the runtime passed it in CNI_ARGS, or NAME. Without it, all events are printed. A failure names no address, and is found by container or pod. Below, it says when the history begins and, in the last line, who holds the address now.',
    "A TIME is in UTC: 03:00 (the last one), 2026-01-31 03:00, ISO 8601 such as 2026-01-31T03:00:00+01:00, or a duration ago such as 90s, 10m, 3h or 12d.",
    "ADD reserves, every other event that has an address releases. The Go plugin writes no history, and a line may be missing after a kill or a full disk: then an ADD follows an ADD, or a DEL a DEL.",
    "Exit code 1 means that no event was found.",
  ],
  options: [
    {
      name: "--at",
      value: "TIME",
      summary: "only the last event up to this time, of each address: an ADD holds it then",
    },
    { name: "--since", value: "TIME", summary: "only the events at this time or later" },
    {
      name: "--failed",
      summary: "only calls that failed, or gave their address back at once",
    },
    { name: "--network", value: "NETWORK", summary: "search this network only" },
  ],
  exclusive: [
    ["--at", "--since"],
    ["--at", "--failed"],
  ],
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
      line: "host-local history --failed --since 1h",
      effect: "show which calls have failed in the last hour, and why",
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
    const isOfFailures = context.has("--failed");
    const choose = choiceOf(context);
    const node = openNode(context, network, (files) => readHistory(files) !== undefined);
    const calls = callsOf(context, isOfFailures);
    const histories = node.asked.map((directory) => historyOf(directory, calls));
    const asked = query && meantBy(query, node, histories);
    const known = histories.map((one) =>
      asked === undefined ? wholeAnswer(one) : answerFor(node, one, asked),
    );
    const unknown = network === undefined ? [ofUnknownNetworks(histories, calls, asked)] : [];
    const answers = [...known, ...unknown].map((one): Answer => {
      const all = isOfFailures ? one.all.filter(isFailure) : one.all;
      return { ...one, all, events: choose(all) };
    });
    const command = commandText(context, undefined, [
      "history",
      ...(operand === undefined ? [] : [operand]),
      ...(isOfFailures ? ["--failed"] : []),
      ...(network === undefined ? [] : ["--network", network]),
    ]);
    return {
      exitCode: answers.some(({ events }) => events.length > 0) ? 0 : 1,
      document: () => answersDocument(answers),
      text: () => formatAnswers(context.system, answers, { operand, isOfFailures, command }),
    };
  },
};

/**
 * What was kept of calls.
 *
 * @param isAsked whether nothing else was asked for: then it is an error that they cannot be read
 */
function callsOf({ system, log }: Context, isAsked: boolean): readonly CallRecord[] {
  if (isAsked) return readFailedCalls(system);
  return recover(
    () => readFailedCalls(system),
    ({ message }) => {
      log(`which calls failed is not known: ${message}`);
      return [];
    },
  );
}

/** The history of one network. */
interface NetworkHistory {
  readonly directory: NetworkDirectory;
  readonly beginning: Beginning;
  readonly events: readonly HistoryEvent[];
}

function historyOf(directory: NetworkDirectory, calls: readonly CallRecord[]): NetworkHistory {
  const { files, networks } = directory;
  const { network } = files;
  const records = readHistory(files) ?? [];
  const events = inOrder(
    records.map((record) => ({ ...record, network })),
    calls.filter((call) => isCallOf(call, directory)),
  );
  return { directory, beginning: beginningOf(records, networks), events };
}

function beginningOf(
  [first]: readonly HistoryRecord[],
  networks: NetworkDirectory["networks"],
): Beginning {
  if (first !== undefined) return { kind: "at", time: first.time };
  const isConfigured = networks.some(({ historyBytes }) => historyBytes !== undefined);
  return { kind: isConfigured ? "empty" : "none" };
}

/** Events of two kinds by their times, where each kind stays in its order, whatever the clock was set to. */
function inOrder(
  events: readonly HistoryEvent[],
  calls: readonly CallRecord[],
): readonly HistoryEvent[] {
  const merged: HistoryEvent[] = [];
  let at = 0;
  for (const event of events) {
    for (let call = calls[at]; call !== undefined && call.time <= event.time; call = calls[++at]) {
      merged.push(call);
    }
    merged.push(event);
  }
  return [...merged, ...calls.slice(at)];
}

/** The calls of no network that is known: their configuration could not be read, or is gone. */
function ofUnknownNetworks(
  histories: readonly NetworkHistory[],
  calls: readonly CallRecord[],
  queries: readonly Query[] | undefined,
): Omit<Answer, "events"> {
  const isKnown = (call: CallRecord): boolean =>
    histories.some(({ directory }) => isCallOf(call, directory));
  const matchers = queries?.map(matcherOf);
  const all = calls.filter(
    (call) => !isKnown(call) && (matchers?.some((matches) => matches(call)) ?? true),
  );
  return { network: "", beginning: undefined, all, holders: [] };
}

/**
 * Which events are asked for.
 *
 * @throws UsageError on an invalid time
 */
function choiceOf({
  system,
  option,
}: Context): (events: readonly HistoryEvent[]) => readonly HistoryEvent[] {
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

/** The last event of each address; a call that failed is of none. */
function lastOfEach(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const ofAddresses = events.flatMap((one) => (isFailure(one) ? [] : one));
  return [...new Map(ofAddresses.map((one) => [one.address, one])).values()];
}

/**
 * What an operand means: the pods of that name, in whatever namespace or without one, if it looks like the id of a container
 * and nothing known begins with it.
 */
function meantBy(query: Query, node: Node, histories: readonly NetworkHistory[]): readonly Query[] {
  if (query.kind !== "container") return [query];
  const events = histories.flatMap((one) => one.events);
  const { cache } = node;
  const reservations = node.askedReservations();
  const isKnown =
    events.some(matcherOf(query)) ||
    reservations.some(({ owner }) => containerOf(owner).startsWith(query.id));
  if (isKnown) return [query];
  const pods = [...events.map(({ pod }) => pod), ...reservations.map((one) => cache.podOf(one))];
  const named = new Set(pods.filter((pod) => isPodNamed(pod, query.id)));
  return named.size === 0 ? [query] : [...named].map((pod) => ({ kind: "pod", pod }));
}

/** Everything known in one network; who holds what now is for `list` to say. */
function wholeAnswer({ directory, beginning, events }: NetworkHistory): Omit<Answer, "events"> {
  return { network: directory.files.network, beginning, all: events, holders: [] };
}

/** What is known in one network of what was asked for. */
function answerFor(
  { context, cache }: Node,
  { directory, beginning, events }: NetworkHistory,
  queries: readonly Query[],
): Omit<Answer, "events"> {
  const { files } = directory;
  const matchers = queries.map(matcherOf);
  const named = new Set(events.filter((event) => matchers.some((matches) => matches(event))));
  // A release by a command or GC does not name the pod, but its container.
  const containers = new Set([...named].map(({ container }) => container));
  containers.delete("");
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
    beginning,
    all: events.filter((one) => named.has(one) || (!isByAddress && containers.has(one.container))),
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
function matcherOf(query: Query): (event: HistoryEvent) => boolean {
  switch (query.kind) {
    case "address": {
      const address = formatAddress(query.address);
      return (event) => !isFailure(event) && event.address === address;
    }
    case "pod":
      return ({ pod }) => pod === query.pod || pod === podWord(query.pod);
    case "container":
      return ({ container }) => container.startsWith(query.id);
  }
}
