import type { Command, Context } from "../../cli/command/command.ts";
import { formatAddress } from "../../ipam/address.ts";
import { readHistory } from "../../store/history/history-file.ts";
import { podWord } from "../../store/history/history-record.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import { containerOf, interfaceOf, logUnreadable } from "../node/network-directory.ts";
import { commandText } from "../node/next-command.ts";
import { type Node, openNode, parseQuery, type Query } from "../node/node.ts";
import { cacheOption } from "../node/results-cache.ts";
import { type Answer, answersDocument, formatAnswers } from "./answer.ts";
import { clockSetBack, type Holding, holdingsOf, isHeldAfter, isHeldAt } from "./holding.ts";
import { parseTime } from "./time.ts";

/** `history`: who held an address, when. */
export const history: Command = {
  name: "history",
  operands: "ADDRESS|CONTAINER|POD",
  findsNetworks: true,
  summary: "show who held an address, or what a container or pod held, and when",
  description: [
    'Reads the history that the plugin keeps with "history": true, and prints a line for each time that the address was held: by whom, from when, until when, and what released it. The operand is an address, a container id or the beginning of one, or a pod as NAMESPACE/NAME, as the runtime passed it in CNI_ARGS. The last line says when the history begins.',
    "A TIME is in UTC: 03:00 (the last one), 2026-01-31 03:00, ISO 8601 such as 2026-01-31T03:00:00+01:00, or a duration ago such as 90s, 10m, 3h or 12d.",
    "The Go plugin writes no history, and a line may be missing after a kill or a full disk. That an address was released shows then when it is reserved again or free: it was held until an unknown time before. Of a reservation without a line, the time of its file is the beginning.",
    "Exit code 1 means that nothing was found.",
  ],
  options: [
    { name: "--at", value: "TIME", summary: "only who held it at this time" },
    { name: "--since", value: "TIME", summary: "only who held it at this time or later" },
    { name: "--network", value: "NETWORK", summary: "search this network only" },
    cacheOption,
  ],
  exclusive: [["--at", "--since"]],
  examples: [
    { line: "host-local history 10.88.0.7", effect: "show everyone who held the address" },
    {
      line: "host-local history 10.88.0.7 --at 03:00",
      effect: "show who held it at three in the morning, UTC",
    },
    {
      line: "host-local history default/web --since 12d --json",
      effect: "show as JSON which addresses a pod held in the last twelve days",
    },
  ],
  run: (context) => {
    const [operand = ""] = context.operands;
    const query = parseQuery(operand);
    const isIncluded = periodOf(context);
    const network = context.option("--network");
    const node = openNode(context, network, (files) => readHistory(files) !== undefined);
    const answers = node.directories.map((directory) => {
      const answer = answerFor(node, directory, query);
      return { ...answer, holdings: answer.all.filter(isIncluded) };
    });
    const command = commandText(context, undefined, [
      "history",
      operand,
      ...(network === undefined ? [] : ["--network", network]),
    ]);
    return {
      exitCode: answers.some(({ holdings }) => holdings.length > 0) ? 0 : 1,
      document: () => answersDocument(answers),
      text: () => formatAnswers(context.system, answers, operand, command),
    };
  },
};

/** @throws UsageError on an invalid time */
function periodOf({ system, option }: Context): (holding: Holding) => boolean {
  const now = system.now();
  const at = option("--at");
  const since = option("--since");
  if (at !== undefined) {
    const time = parseTime(at, "--at", now);
    return (holding) => isHeldAt(holding, time);
  }
  if (since === undefined) return () => true;
  const time = parseTime(since, "--since", now);
  return (holding) => isHeldAfter(holding, time);
}

/** What is known of the operand in one network. */
function answerFor(
  { context, cache }: Node,
  directory: NetworkDirectory,
  query: Query,
): Omit<Answer, "holdings"> {
  const { system } = context;
  const { files } = directory;
  const records = readHistory(files);
  const isWanted = matcherOf(query);
  const reservations =
    query.kind === "address" ? directory.reservationsAt(query.address) : directory.reservations;
  logUnreadable(context, reservations);
  const present = reservations.flatMap((reservation) => {
    const container = containerOf(reservation.owner);
    if (container === "") return [];
    return [
      {
        address: reservation.text,
        container,
        interfaceName: interfaceOf(reservation.owner),
        pod: cache.podOf(reservation),
        from: reservation.since,
      },
    ];
  });
  return {
    network: files.network,
    begin: records?.[0]?.time,
    clockSetBack: clockSetBack(records ?? []),
    all: holdingsOf(records ?? [], present, system.now()).filter(isWanted),
  };
}

/** A container by its id or the beginning of it, or by the name that the runtime passes in place of a pod's. */
function matcherOf(query: Query): (holding: Holding) => boolean {
  switch (query.kind) {
    case "address": {
      const address = formatAddress(query.address);
      return (holding) => holding.address === address;
    }
    case "pod":
      return ({ pod }) => pod === query.pod || pod === podWord(query.pod);
    case "container":
      return ({ container, pod }) => container.startsWith(query.id) || pod === query.id;
  }
}
