import { CniError, messageWithDetails } from "../../cni/error.ts";
import { withLock } from "../../store/lock.ts";
import { ownerText } from "../../store/owner.ts";
import { modifiedOf, releaseSeenDead } from "../../store/release-unchanged.ts";
import { readSeenDead, type SeenDead, writeSeenDead } from "../../store/seen-dead.ts";
import { isSystemError } from "../../system/system.ts";
import type { Command, Context, Report } from "../command/command.ts";
import { parseDuration } from "../command/duration.ts";
import { readDirectories } from "../node/directory-contents.ts";
import type { NetworkDirectory } from "../node/network-directories.ts";
import { findNetworks, logProblems } from "../node/networks.ts";
import { type NodeReservation, requireReadable } from "../node/node-reservations.ts";
import { cacheOption } from "../node/results-cache.ts";
import { decideBy } from "./decision.ts";
import { type Collection, collectionDocument, formatCollection } from "./gc-report.ts";
import { type LiveSource, liveSourceOf, sourceOptions } from "./live-source.ts";

/** `gc`: frees what dead containers left behind. */
export const gc: Command = {
  name: "gc",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  summary: "frees the addresses of containers that are dead",
  description: [
    "Compares the reservations of all networks, or of one, with the containers that are alive: with a list of their ids (the ids that CNI calls are made with: crictl pods -q, podman ps -aq --no-trunc), or with the network namespaces that libcni's cache names. A network that several runtimes use needs the ids of all of them in one list.",
    "Reservations are read before the list is. One that is younger than the grace period is kept, and so is one that names no container. A reservation goes when two runs, at least the grace period apart, both found its container dead; what the first one saw is noted beside the owner index, by dry runs, too. A list in a file is as old as the file. Before it is released, each reservation is looked at again under the lock.",
    "Without --yes nothing is released. A list without any id releases nothing, nor does a command that fails, nor a list none of whose ids holds an address of the network in question. An id of twelve or more hexadecimal digits also stands for the longer ones that it begins.",
    "Exit codes: 0 nothing is dead, or (with --yes) all that may go is released; 1 dead reservations were found in a dry run, or it was refused, or could not be released; 2 it could not look, for example since the command failed.",
    'JSON: {"dryRun", "networks": [{"network", "directory", "refused": null or why, "reservations", "alive", "unknown", "ownerless", "young", "waiting", "due", "released"}], "dead": [{"network", "address", "container", "interface", "since", "seenDeadSince", "state": "waiting"|"due"|"released"|"kept"|"refused", "path"}]}. "kept" is what changed meanwhile or could not be released.',
  ],
  options: [
    ...sourceOptions,
    cacheOption,
    {
      name: "--grace",
      value: "TIME",
      summary: "how young is too young, and how far apart two runs must be (default: 10m)",
    },
    { name: "--now", summary: "one run that finds it dead is enough" },
    { name: "--allow-empty", summary: "believe a list without any id: nothing is alive" },
    { name: "--yes", summary: "release, and do not only say what would be released" },
  ],
  examples: [
    { line: "host-local gc mynet --live-command 'crictl pods -q'", effect: "says what is dead" },
    {
      line: "host-local gc mynet --live-command 'crictl pods -q' --yes",
      effect: "for a timer: releases what this run and an earlier one found dead",
    },
    { line: "podman ps -aq --no-trunc | host-local gc podman --live -", effect: "from a pipe" },
    {
      line: "host-local gc --by-netns --now --yes",
      effect: "after a reboot, once a pod runs: releases what has no network namespace any more",
    },
  ],
  run: collect,
};

function collect(context: Context): Report {
  const { system, log } = context;
  const readSource = liveSourceOf(context);
  const grace = parseDuration(context.option("--grace") ?? "10m", "--grace");
  const { found, bad } = findNetworks(context, context.operands[0]);
  logProblems(context, bad);
  const readAt = system.now();
  const contents = readDirectories(system, found);
  for (const { reservations } of contents) requireReadable(reservations);
  const source = readSource(readAt);
  const decided = contents.map(({ directory, reservations }) =>
    decide(context, grace, source, directory, reservations),
  );
  const collections = decided.map((collection) => {
    const refused = refusal(context, source, collection);
    return refused === undefined ? finish(context, collection) : { ...collection, refused };
  });
  const refusals = new Set(collections.flatMap(({ refused }) => refused ?? []));
  for (const refused of refusals) log(`host-local: ${refused}\n`);
  return {
    exitCode: refusals.size > 0 || isAnythingLeft(context, collections) ? 1 : 0,
    document: collectionDocument(collections, !context.has("--yes")),
    text: formatCollection(collections, !context.has("--yes")),
  };
}

function decide(
  { system, has }: Context,
  grace: number,
  source: LiveSource,
  directory: NetworkDirectory,
  reservations: readonly NodeReservation[],
): Collection {
  const { location } = directory;
  const decideOne = decideBy({
    asOf: source.asOf,
    grace,
    isImmediate: has("--now"),
    before: readSeenDead(system, location),
  });
  const decided = reservations.map((reservation) => {
    const owner = ownerText(reservation.owner);
    const liveness = owner === undefined ? "unknown" : source.livenessOf(reservation);
    const modified =
      owner === undefined ? undefined : modifiedOf(system, location, reservation.name);
    const seen =
      owner === undefined || modified === undefined
        ? undefined
        : { name: reservation.name, owner, modified };
    return { ...decideOne({ seen, liveness }), reservation };
  });
  return { directory, decided, released: new Set(), refused: undefined, isNoted: true };
}

/**
 * Why nothing may be released in a network, although it seems dead. A list that is wrong is wrong each time: seeing it
 * twice proves nothing.
 */
function refusal(
  { has }: Context,
  source: LiveSource,
  { directory, decided }: Collection,
): string | undefined {
  if (has("--allow-empty") || !decided.some(({ seenDead }) => seenDead)) return undefined;
  if (source.isEmpty) {
    return "the list of live containers is empty; nothing was released. If nothing is alive indeed, add --allow-empty";
  }
  if (has("--by-netns") || decided.some(({ decision }) => decision === "alive")) return undefined;
  return `none of the live ids holds an address of ${directory.location.network}; nothing was released there. Are they ids of pod sandboxes, of the runtime that uses this network? If they are, add --allow-empty`;
}

/** Releases what is due, and notes what is not. */
function finish(context: Context, collection: Collection): Collection {
  const { system, log, has } = context;
  const { location } = collection.directory;
  const released = has("--yes") ? release(context, collection) : new Set<string>();
  const left = collection.decided.flatMap(({ seenDead, reservation }) =>
    seenDead === undefined || released.has(reservation.name) ? [] : [seenDead],
  );
  let isNoted = true;
  try {
    if (left.length > 0 || readSeenDead(system, location).length > 0) {
      writeSeenDead(system, location, left);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    log(`host-local: what was seen dead could not be noted: ${error.message}\n`);
    isNoted = false;
  }
  return { ...collection, released, isNoted };
}

/** One network that is locked, or cannot be written, does not keep the others from being cleaned up. */
function release(
  { system, log }: Context,
  { directory, decided }: Collection,
): ReadonlySet<string> {
  const { location, networks } = directory;
  const due = decided.flatMap(({ decision, seenDead }) =>
    decision === "due" && seenDead !== undefined ? [seenDead] : [],
  );
  if (due.length === 0) return new Set();
  const request = { holder: "host-local gc", timeoutSeconds: networks[0].lockTimeoutSeconds };
  try {
    return new Set(withLock(system, location, request, (store) => releaseSeenDead(store, due)));
  } catch (error) {
    if (!(error instanceof CniError || isSystemError(error))) throw error;
    log(`host-local: ${location.network}: ${messageWithDetails(error)}\n`);
    const isGone = ({ name }: SeenDead): boolean =>
      modifiedOf(system, location, name) === undefined;
    return new Set(due.filter(isGone).map(({ name }) => name));
  }
}

/** In a dry run everything that is dead; otherwise what could not be released, or will never be since nothing is noted. */
function isAnythingLeft({ has }: Context, collections: readonly Collection[]): boolean {
  return collections.some(
    ({ decided, released, isNoted }) =>
      !isNoted ||
      decided.some(
        ({ decision, seenDead, reservation }) =>
          seenDead !== undefined &&
          !released.has(reservation.name) &&
          (decision === "due" || !has("--yes")),
      ),
  );
}
