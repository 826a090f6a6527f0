import type { Command, Context, Report } from "../../cli/command/command.ts";
import { parseDuration } from "../../cli/command/duration.ts";
import { isRecorded } from "../../store/life/conclusion.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { attempt, exists, isSystemError } from "../../system/system.ts";
import { requestedConfigurationDirectory } from "../configured/configuration-directories.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import { requireReadable } from "../held/network-directory.ts";
import { releaseOrLog } from "../held/release.ts";
import { commandText, shellCommand } from "../next-command.ts";
import { logUnreserved, type Node, openNode } from "../node.ts";
import { readCollection, seenId, writeCollection } from "./collection-file.ts";
import { decideBy } from "./decision.ts";
import { doubtOn } from "./doubt.ts";
import {
  type Collection,
  collectionDocument,
  formatCollection,
  formatReleases,
} from "./gc-report.ts";
import { mayHave } from "./live-list.ts";
import { type LiveSource, readLiveSource, sourceOptions } from "./live-source.ts";
import { liveCommandOf } from "./runtime-command.ts";

/** `gc`: releases the addresses of dead containers. */
export const gc: Command = {
  name: "gc",
  operands: "[NETWORK]",
  findsNetworks: true,
  summary: "release the addresses of dead containers",
  description: [
    "Finds live containers by the node's network namespaces. What they do not show is decided by the list from --live-command or --live: all containers, also stopped ones, by the ids of the CNI calls. Without a list it is unknown and stays. A list that lacks a live container is rejected.",
    "An address is released, with --yes, once two runs, at least --grace apart, find its container dead; the first only records it.",
    "Exit code 1: some are dead and not released, unknown, or contradict the list.",
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
  // Before the list: what is reserved meanwhile is not in it.
  requireReadable(node.reservations);
  // Before the namespaces: what ends meanwhile does not contradict it.
  const source = readLiveSource(context, readAt);
  node.cache.requireReadable();
  const collections = node.directories.map((directory) =>
    finish(context, decide(node, grace, source, directory)),
  );
  const messages = collections.flatMap((collection) => messagesOn(node, source, collection));
  for (const message of messages) log(message);
  logUnreserved(node);
  const mode = { isDryRun: !has("--yes"), isImmediate: has("--now"), grace };
  const isLeft = collections.some((one) => one.isLeft);
  const hint = mode.isDryRun && isLeft ? `To release: ${commandToRelease(context)}\n` : "";
  return {
    exitCode: messages.length > 0 || isLeft ? 1 : 0,
    document: () => collectionDocument(collections, mode),
    text: () => {
      if (has("--log")) return formatReleases(collections);
      return `${formatCollection(context, collections, mode)}${hint}`;
    },
  };
}

/** What was decided in a network, before anything is done. */
type Judged = Omit<Collection, "released" | "isLeft">;

/** Decides by the list and, where that is in doubt, again. */
function decide(
  node: Node,
  grace: number,
  { list, asOf }: LiveSource,
  directory: NetworkDirectory,
): Judged {
  const { context, liveness } = node;
  const { has, system } = context;
  const { reservations } = directory;
  const undecided = liveness.livenessOfAll(reservations).map((one) => ({
    ...one,
    seenId: seenId(one.reservation),
    since: one.reservation.since,
    isListed: list?.has(containerOf(one.reservation.owner)) ?? false,
    mayBeListed: list !== undefined && mayHave(list, containerOf(one.reservation.owner)),
    isBesideListed: () =>
      list !== undefined &&
      liveness.whose.containersBeside(one.reservation).some((id) => list.has(id)),
  }));
  const before = readCollection(directory.files).seenDead;
  const rules = { asOf, now: system.now(), grace, isImmediate: has("--now"), before };
  const decideAll = (belief: "none" | "believed" | "doubted") => {
    const decideOne = decideBy({ ...rules, list: belief });
    return undecided.map((one) => ({ ...one, ...decideOne(one) }));
  };
  const judged = decideAll(list === undefined ? "none" : "believed");
  const refused = list && doubtOn(list, directory, judged, node, has("--force"));
  const decided = refused === undefined ? judged : decideAll("doubted");
  return { directory, decided: withoutRemoved(directory, decided), refused };
}

/** The reservations without the files that were being removed when they were read: they name no container either. */
function withoutRemoved(
  { files: { system, directory } }: NetworkDirectory,
  decided: Collection["decided"],
): Collection["decided"] {
  if (!decided.some(({ decision }) => decision === "unowned")) return decided;
  const names = new Set(attempt(() => system.list(directory), [], "ENOENT"));
  return decided.filter(
    ({ decision, reservation }) => decision !== "unowned" || names.has(reservation.name),
  );
}

/** Releases what is due, and records the rest. */
function finish(context: Context, judged: Judged): Collection {
  const { log, has } = context;
  const { files } = judged.directory;
  const released = new Set(has("--yes") ? release(context, judged) : []);
  const left = judged.decided.filter(
    ({ deadSince, reservation }) => deadSince !== undefined && !released.has(reservation),
  );
  let isLeft = left.some(({ decision }) => decision === "due" || !has("--yes"));
  const before = readCollection(files);
  // Without the network's directory there was nothing to collect.
  const isRun =
    has("--yes") && judged.refused === undefined && exists(files.system, files.directory);
  const hasDead = left.length > 0 || before.seenDead.size > 0;
  try {
    if (hasDead || isRun) {
      const seenDead = new Map<string, number>();
      for (const one of left) {
        if (one.seenId !== undefined && one.deadSince !== undefined) {
          seenDead.set(one.seenId, one.deadSince);
        }
      }
      writeCollection(files, { lastRun: isRun ? files.system.now() : before.lastRun, seenDead });
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // The collection itself has succeeded.
    if (hasDead) {
      log(`cannot record dead reservations: ${error.message}`);
      isLeft = true;
    }
  }
  return { ...judged, released, isLeft };
}

/** Releases what is due in one network, and removes the temporary files of killed calls. */
function release(context: Context, { directory, decided }: Judged): readonly NodeReservation[] {
  const due = decided.flatMap(({ decision, reservation }) =>
    decision === "due" ? [reservation] : [],
  );
  const { files } = directory;
  // The lock would make a missing directory.
  const hasLeftOvers = exists(files.system, files.directory) && files.abandonedFiles().length > 0;
  if (due.length === 0 && !hasLeftOvers) return [];
  return releaseOrLog(context, directory, "gc", due, () => files.sweepAll());
}

/** Why the list is not believed in a network, or what nothing decides there. */
function messagesOn(
  { context }: Node,
  { list }: LiveSource,
  { directory, decided, refused }: Collection,
): readonly string[] {
  if (refused !== undefined) return [refused];
  // What no list names stays, whatever is done.
  const unknown = decided.filter(
    ({ decision, conclusion }) =>
      decision === "unknown" && (list === undefined || !isRecorded(conclusion)),
  );
  const [first] = unknown;
  if (first === undefined) return [];
  const { files } = directory;
  const { text } = first.reservation;
  const release = commandText(context, files, ["release", text, "--network", files.network]);
  const decides = isRecorded(first.conclusion)
    ? `If nothing uses it: ${release}. Where a runtime may have its container, a list decides`
    : "A list decides";
  const advice = list === undefined ? `. ${decides}: ${listText(context, directory)}` : "";
  return [
    `${files.network}: of ${unknown.length} of ${decided.length} reservations it is not known whether their containers are alive: ${first.conclusion.reason}${advice}`,
  ];
}

/** How the list of the runtime is given that uses a network. */
function listText(
  context: Context,
  { files, networks, reservations }: Collection["directory"],
): string {
  const command = liveCommandOf(networks[0], reservations);
  if (command === undefined)
    return "write the ids of its live containers to a file, one per line, and add --live FILE";
  const words = ["gc", files.network, "--live-command", command] as const;
  return `${commandText(context, files, words)} (or --live FILE, where that program is not)`;
}

/** The command line of this run, with `--yes`, and with what it took from the environment. */
function commandToRelease(context: Context): string {
  const confDir = requestedConfigurationDirectory(context);
  const isGiven = confDir === undefined || context.option("--conf-dir") !== undefined;
  const [, ...words] = context.system.arguments;
  return shellCommand([
    ...["host-local", "gc", "--yes", ...(isGiven ? [] : ["--conf-dir", confDir])],
    ...words,
  ]);
}
