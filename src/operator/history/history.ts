import type { Command, Context } from "../../cli/command/command.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { timeText } from "../../cli/output/time.ts";
import type { CallRecord } from "../../store/failed-calls/failed-call.ts";
import { readFailedCalls } from "../../store/failed-calls/failed-calls-file.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { readHistory } from "../../store/history/history-file.ts";
import { podWord } from "../../store/history/history-record.ts";
import { recover } from "../../system/system.ts";
import { isCallOf } from "../judgements/calls.ts";
import { type Node, openNode } from "../node.ts";
import { matches, parseQuery, type Query } from "../search.ts";
import { eventOfCall, eventOfRecord, type HistoryEvent, inOrder, isFailure } from "./event.ts";
import { describeEvent, eventTable } from "./event-table.ts";
import { parseTime } from "./time.ts";

/** `history`: what happened to an address, when. */
export const history: Command = {
  name: "history",
  operands: "[ADDRESS|CONTAINER|POD]",
  findsNetworks: true,
  summary: "show who got an address and when it was released, and which calls failed",
  description: [
    'Reads the history that the plugin keeps with "history": true, and prints a line for each time that the address was reserved or released: when, by which verb, and of which container. Without that key, too, each call since the machine booted is printed that failed (ADD failed, with what the runtime was told), or gave the address of a pod back within a second of its ADD (DEL returned: a plugin after this one may fail). The operand is an address, a container id or the beginning of one, or a pod as NAMESPACE/NAME, as the runtime passed it in CNI_ARGS, or NAME. Without it, all events are printed. A failure names no address, and is found by container or pod. Who holds an address now is for show.',
    "A TIME is in UTC: 03:00 (the last one), 2026-01-31 03:00, ISO 8601 such as 2026-01-31T03:00:00+01:00, or a duration ago such as 90s, 10m, 3h or 12d.",
    "ADD reserves, every other event that has an address releases. The Go plugin writes no history, and a line may be missing after a kill or a full disk: then an ADD follows an ADD, or a DEL a DEL.",
    "Exit code 1 means that no event was found. Then it says when each history begins.",
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
    const query = operand === undefined ? undefined : parseQuery(operand);
    const isOfFailures = context.has("--failed");
    const choose = choiceOf(context);
    const node = openNode(
      context,
      context.option("--network"),
      (files) => readHistory(files) !== undefined,
    );
    const histories = node.asked.map(({ files }) => readRecords(files));
    const all = inOrder([...histories.map((history) => history.events), readCalls(node)]);
    const meant = query === undefined ? all : meantBy(query, all);
    const atAnyTime = isOfFailures ? meant.filter(isFailure) : meant;
    const events = choose(atAnyTime);
    return {
      exitCode: events.length > 0 ? 0 : 1,
      document: () => ({
        events: events.map(describeEvent),
        networks: histories.map(({ network, begins }) => ({
          network,
          begins: begins === undefined ? null : timeText(begins),
        })),
      }),
      text: () => {
        if (events.length > 0) return eventTable(context.system, events);
        const what = isOfFailures ? "failure" : "event";
        const of = operand === undefined ? "" : ` of ${operand}`;
        const when = atAnyTime.length > 0 ? " at this time" : "";
        const lines = [
          `No ${what}${of} is known${when}.`,
          ...(isOfFailures ? [] : histories.map(beginningOf)),
        ];
        return lines.map((line) => `${inOneLine(line)}\n`).join("");
      },
    };
  },
};

/** The history of one network. */
interface NetworkHistory {
  readonly network: string;
  /** The time of its first line; `undefined` where there is none. */
  readonly begins: number | undefined;
  readonly events: readonly HistoryEvent[];
}

function readRecords(files: NetworkFiles): NetworkHistory {
  const { network } = files;
  const records = readHistory(files) ?? [];
  const events = records.map((record) => eventOfRecord(network, record));
  return { network, begins: records[0]?.time, events };
}

/** The sentence that says from when on a network's history tells anything: before that, no event means nothing. */
function beginningOf({ network, begins }: NetworkHistory): string {
  return begins === undefined
    ? `${network} has no history yet: it begins with the first call after "history": true is set in the ipam configuration.`
    : `The history of ${network} begins at ${timeText(begins)}.`;
}

/** The calls that were kept, of the network that the command is about; otherwise all, also those whose network is not known. */
function readCalls({ context, asked, isOfAll }: Node): readonly HistoryEvent[] {
  const isAsked = (call: CallRecord): boolean =>
    isOfAll || asked.some((directory) => isCallOf(call, directory));
  const read = (): readonly CallRecord[] => readFailedCalls(context.system);
  const tell = ({ message }: { readonly message: string }): readonly CallRecord[] => {
    context.log(`which calls failed is not known: ${message}`);
    return [];
  };
  const calls = context.has("--failed") ? read() : recover(read, tell);
  return calls.filter(isAsked).map(eventOfCall);
}

/** The events that are meant, with all of their containers: a release by a command or GC does not name the pod. */
function meantBy(query: Query, all: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const isMeant = ({ address, container, pod }: HistoryEvent): boolean =>
    matches(query, address, container, () => pod) ||
    // The history writes a pod as one word.
    (query.kind === "pod" && pod === podWord(query.text));
  if (query.kind === "address") return all.filter(isMeant);
  const meant = new Set(all.filter(isMeant));
  const containers = new Set([...meant].map(({ container }) => container));
  containers.delete("");
  return all.filter((event) => meant.has(event) || containers.has(event.container));
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
    return (events) => lastOfEach(events.filter((event) => event.time <= time));
  }
  if (since === undefined) return (events) => events;
  const time = parseTime(since, "--since", now);
  return (events) => events.filter((event) => event.time >= time);
}

/** The last event of each address; a call that failed is of none. */
function lastOfEach(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const ofAddresses = events.filter((event) => !isFailure(event));
  return [
    ...new Map(ofAddresses.map((event) => [`${event.network} ${event.address}`, event])).values(),
  ];
}
