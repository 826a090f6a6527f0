import type { Command, Context, Report } from "../../cli/command/command.ts";
import { parseDuration } from "../../cli/command/duration.ts";
import { exists, isSystemError } from "../../system/system.ts";
import { type NetworkDirectory, requireReadable } from "../held/network-directory.ts";
import { releaseOrLog } from "../held/release.ts";
import { type Node, openNode } from "../node.ts";
import { readCollection, seenId, writeCollection } from "./collection-file.ts";
import { type DecidedReservation, decideBy, withoutList } from "./decision.ts";
import { doubtOn } from "./doubt.ts";
import {
  type Collection,
  collectionDocument,
  formatCollection,
  formatReleases,
} from "./gc-report.ts";
import { type LiveSource, readLiveSource, sourceOptions } from "./live-source.ts";
import { undecidedText } from "./undecided.ts";

/** `gc`: releases the addresses of dead containers. */
export const gc: Command = {
  name: "gc",
  operands: "[NETWORK]",
  findsNetworks: true,
  summary: "release the addresses of dead containers",
  description: [
    "Finds live containers by the node's network namespaces. What they do not show is decided by the list from --live-command or --live: all containers, also stopped ones, by the ids of the CNI calls. Without a list it is undecided and stays. A list that lacks a live container is rejected.",
    "An address is released, with --yes, once two runs, at least --grace apart, find its container dead; the first only records it.",
    "Exit code 1: some are dead and not released, undecided, or contradict the list, or cannot be recorded.",
  ],
  options: [
    ...sourceOptions,
    {
      name: "--grace",
      value: "DURATION",
      summary: "minimum age of a reservation, and minimum time between the two runs (default: 10m)",
    },
    { name: "--now", summary: "release what this run finds dead; do not wait for a second one" },
    {
      name: "--force",
      summary: "accept a list that is empty, marks most of a network dead, or seems to lack some",
    },
    { name: "--yes", summary: "release; without it, only print what would be released" },
    { name: "--log", summary: "print only what was released, a line for each" },
  ],
  exclusive: [
    ["--live", "--live-command"],
    ["--log", "--json"],
  ],
  examples: [
    {
      line: "host-local gc mynet --live-command 'crictl pods -q' --yes",
      effect: "release addresses of dead containers, with the runtime's list for undecided ones",
    },
  ],
  run: collect,
};

function collect(context: Context): Report {
  const { system, log, has } = context;
  const grace = parseDuration(context.option("--grace") ?? "10m", "--grace");
  const node = openNode(context, context.operands[0]);
  const readAt = system.now();
  // The reservations are read before the list, which lacks what is reserved meanwhile.
  requireReadable(node.askedReservations());
  // The list is read before the namespaces, so that what ends meanwhile does not contradict it.
  const source = readLiveSource(context, readAt);
  node.cache.requireReadable();
  const collections = node.asked.map((directory) => {
    const judged = decide(node, grace, source, directory);
    return has("--yes") ? release(context, judged) : judged;
  });
  const hasList = source.list !== undefined;
  const messages = collections.flatMap((collection) => {
    const { directory, decided, refused } = collection;
    const said = refused ?? undecidedText(context, directory, decided, hasList);
    return [said ?? [], record(collection, has("--yes")) ?? []].flat();
  });
  for (const message of messages) log(message);
  // A reservation that a run with --yes is the first to find dead waits for the second run.
  const isLeft = collections.some(({ decided }) =>
    decided.some(({ decision }) => decision === "due" || (decision === "waiting" && !has("--yes"))),
  );
  return {
    exitCode: messages.length > 0 || isLeft ? 1 : 0,
    document: () => collectionDocument(node, collections, grace),
    text: () =>
      has("--log") ? formatReleases(collections) : formatCollection(context, collections, grace),
  };
}

/** Decides by the list and, where that is in doubt, again. */
function decide(
  node: Node,
  grace: number,
  { list, asOf }: LiveSource,
  directory: NetworkDirectory,
): Collection {
  const { context, liveness } = node;
  const { has, system } = context;
  const before = readCollection(directory.files);
  const rules = { list, asOf, now: system.now(), grace, isImmediate: has("--now") };
  const judged = liveness
    .livenessIn(directory)
    .map(decideBy({ ...rules, before: before.seenDead }));
  const refused = list && doubtOn(list, directory, judged, node, has("--force"));
  const decided = refused === undefined ? judged : judged.map(withoutList);
  return { directory, decided, refused, before };
}

/** Releases what is due in one network, and removes the temporary files of killed calls. */
function release(context: Context, collection: Collection): Collection {
  const { directory, decided } = collection;
  const { files } = directory;
  const due = decided.flatMap(({ decision, reservation }) =>
    decision === "due" ? [reservation] : [],
  );
  // The lock would make a missing directory.
  const hasLeftOvers = exists(files.system, files.directory) && files.abandonedFiles().length > 0;
  if (due.length === 0 && !hasLeftOvers) return collection;
  const gone = new Set(releaseOrLog(context, directory, "gc", due, () => files.sweepAll()));
  const outcomeOf = (decided: DecidedReservation): DecidedReservation =>
    gone.has(decided.reservation) ? { ...decided, decision: "released" } : decided;
  return { ...collection, decided: decided.map(outcomeOf) };
}

/** Records what is dead and left, and when a run with `--yes` was not refused; returns why that has failed. */
function record(
  { directory: { files }, decided, refused, before }: Collection,
  isRun: boolean,
): string | undefined {
  const seenDead = new Map<string, number>();
  for (const { decision, deadSince, reservation } of decided) {
    const id = seenId(reservation);
    if (id === undefined || deadSince === undefined || decision === "released") continue;
    seenDead.set(id, deadSince);
  }
  // Without the network's directory there was nothing to collect.
  const isDone = isRun && refused === undefined && exists(files.system, files.directory);
  if (!isDone && seenDead.size + before.seenDead.size === 0) return undefined;
  try {
    writeCollection(files, { lastRun: isDone ? files.system.now() : before.lastRun, seenDead });
    return undefined;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `${files.network}: cannot record what this run found: ${error.message}`;
  }
}
