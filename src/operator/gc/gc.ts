import { type Command, type Context, type Report, UsageError } from "../../cli/command/command.ts";
import { parseDuration } from "../../cli/command/duration.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { withLock } from "../../store/lock.ts";
import { keyOfOwner } from "../../store/reservations/owner.ts";
import { exists, isSystemError } from "../../system/system.ts";
import { historyCall } from "../node/history-call.ts";
import type { NetworkDirectory, NodeReservation } from "../node/network-directory.ts";
import { type Node, openNode } from "../node/node.ts";
import { requireReadable } from "../node/node-reservations.ts";
import { releaseUnchanged } from "../node/release-unchanged.ts";
import { cacheOption } from "../node/results-cache.ts";
import { type StateOf, stateByList, stateByNamespaces, statesOf } from "./container-state.ts";
import { type Candidate, decideBy } from "./decision.ts";
import {
  type Collection,
  collectionDocument,
  formatCollection,
  formatReleases,
} from "./gc-report.ts";
import { recordCollection } from "./last-collection.ts";
import { type LiveSource, liveSourceOf, sourceOptions } from "./live-source.ts";
import { refusal } from "./refusal.ts";
import { readSeenDead, writeSeenDead } from "./seen-dead.ts";
import { noSource, sourceHint, warningsOn } from "./warnings.ts";

/** `gc`: releases the addresses of dead containers. */
export const gc: Command = {
  name: "gc",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  findsNetworks: true,
  summary: "release the addresses of dead containers",
  description: [
    "Compares the reservations of one network, or of all, with the containers that are alive: with a list of the ids used in CNI calls (crictl pods -q, podman ps -aq --no-trunc; for ctr and nerdctl, where these ids are NAMESPACE-ID: ctr -n default containers ls -q | sed s/^/default-/, and so for each other namespace), or with the network namespaces that libcni's cache names. Without any of these it is a dry run by network namespaces. If several runtimes use a network, one list must contain the ids of all of them.",
    "Reservations are read before the list. Those younger than the grace period, and those that name no container, are kept. A reservation is released when two runs, at least the grace period apart, found its container dead. Runs, including dry runs, record the dead reservations beside the journal. A list in a file counts as of the modification time of the file. Each reservation is checked again under the lock before it is released. With --yes, temporary files that killed calls left are removed, too.",
    "A list may be incomplete. What it does not contain is kept if its network namespace exists: by libcni's cache, or because a process runs in one with this address; and if what the cache has of it cannot be read (--ignore-netns releases both). --live-command fails if any part of a pipeline does, where /bin/sh or bash has pipefail. Nothing is released if the list is empty, or, in a network, if none of the ids holds an address of it (--allow-empty), or if more than half of its reservations, and at least three, are dead by the list alone, without a network namespace that is known to be gone (--force). An id of twelve or more hexadecimal digits also matches longer ids that start with it.",
    "Exit codes: 0 nothing is dead, or (with --yes) all that is due was released; 1 a dry run found dead reservations, or the list was refused or contradicted, or network namespaces could not be checked, or a release failed; 2 an error, for example if the command fails, or the directory of the cache cannot be read.",
    'JSON: {"dryRun", "networks": [{"network", "directory", "refused": null or why, "reservations", "alive", "unknown", "unowned", "young", "inUse", "waiting", "due", "released"}], "dead": [{"network", "address", "container", "interface", "since", "beforeBoot", "seenDeadSince", "state": "waiting"|"due"|"released"|"kept"|"refused", "releasableAfter", "path"}], "undecided": [{"network", "address", "container", "interface", "state": "inUse"|"unknown", "reason", "path"}]}. "kept" are those that changed in the meantime or could not be released.',
  ],
  options: [
    ...sourceOptions,
    cacheOption,
    {
      name: "--grace",
      value: "DURATION",
      summary: "the minimum age of a reservation, and time between two runs (default: 10m)",
    },
    { name: "--now", summary: "release what one run finds dead, without a second run" },
    { name: "--allow-empty", summary: "accept a list without any live container" },
    { name: "--force", summary: "accept that more than half of a network is dead" },
    { name: "--ignore-netns", summary: "trust the list, even if a network namespace exists" },
    { name: "--yes", summary: "release; without it, only print what would be released" },
    { name: "--log", summary: "print only what was released, a line for each, as for a log" },
  ],
  examples: [
    {
      line: "host-local gc mynet",
      effect: "print what has no network namespace any more; release nothing",
    },
    {
      line: "host-local gc mynet --live-command 'crictl pods -q'",
      effect: "print the dead reservations",
    },
    {
      line: "host-local gc mynet --live-command 'crictl pods -q' --yes",
      effect: "from a timer: release what this run and an earlier one found dead",
    },
    {
      line: "podman ps -aq --no-trunc | host-local gc podman --live -",
      effect: "read the list from a pipe",
    },
    {
      line: "host-local gc --by-netns --now --yes",
      effect: "after a reboot, once a pod runs: release what has no network namespace any more",
    },
  ],
  run: collect,
};

function collect(context: Context): Report {
  const { system, log, has } = context;
  if (has("--log") && has("--json")) {
    throw new UsageError("gc: --log and --json exclude each other");
  }
  const readSource = liveSourceOf(context);
  const grace = parseDuration(context.option("--grace") ?? "10m", "--grace");
  const node = openNode(context, context.operands[0]);
  const { directories } = node;
  const readAt = system.now();
  // Before the list: what is reserved meanwhile is not in it.
  requireReadable(node.reservations);
  if (readSource === undefined && has("--yes")) throw noSource(directories);
  const source = readSource?.(readAt) ?? { kind: "namespaces", asOf: readAt };
  const stateOf = stateFor(node, source);
  const collections = directories.map((directory) =>
    decide(context, grace, source, stateOf, directory),
  );
  const finished = collections.map((collection) => {
    const refused = refusal(context, source, collection);
    return refused === undefined ? finish(context, collection) : { ...collection, refused };
  });
  const refusals = new Set(finished.flatMap(({ refused }) => refused ?? []));
  const warnings = finished.flatMap((collection) => warningsOn(context, collection));
  for (const message of [...refusals, ...warnings]) log(message);
  const mode = { isDryRun: !has("--yes"), grace };
  const exitCode = refusals.size + warnings.length > 0 || isAnythingLeft(context, finished) ? 1 : 0;
  const needsSource = readSource === undefined && exitCode === 1;
  const hint = needsSource ? `${sourceHint(context, directories)}\n` : "";
  return {
    exitCode,
    get document() {
      return collectionDocument(finished, mode);
    },
    get text() {
      if (has("--log")) return formatReleases(finished);
      return `${formatCollection(system, finished, mode)}${hint}`;
    },
  };
}

/** @throws SystemError if the directory of libcni's cache cannot be read, and is asked */
function stateFor({ context, cache, liveness }: Node, source: LiveSource): StateOf {
  if (source.kind === "list" && context.has("--ignore-netns")) {
    return stateByList(source.list, undefined);
  }
  cache.requireReadable();
  return source.kind === "list" ? stateByList(source.list, liveness) : stateByNamespaces(liveness);
}

function decide(
  { has }: Context,
  grace: number,
  { asOf }: LiveSource,
  stateOf: StateOf,
  directory: NetworkDirectory,
): Collection {
  const decideOne = decideBy({
    asOf,
    grace,
    isImmediate: has("--now"),
    before: readSeenDead(directory.files),
  });
  const decided = statesOf(directory.reservations, stateOf).map(
    ({ reservation, containerState }) => ({
      ...decideOne({ seen: seenIn(reservation), liveness: containerState.liveness }),
      reservation,
      containerState,
      isBeforeBoot: reservation.isBeforeBoot,
    }),
  );
  return { directory, decided, released: new Set(), refused: undefined, isRecorded: true };
}

/** `undefined` if the file names no container, or its time cannot be read. */
function seenIn({ name, owner, status }: NodeReservation): Candidate["seen"] {
  const text = keyOfOwner(owner);
  if (text === undefined || status === undefined) return undefined;
  return { name, owner: text, modified: status.modified };
}

/** Releases what is due, and records the rest. */
function finish(context: Context, collection: Collection): Collection {
  const { log, has } = context;
  const { files } = collection.directory;
  const released = has("--yes") ? release(context, collection) : new Set<NodeReservation>();
  const left = collection.decided.flatMap(({ seenDead, reservation }) =>
    seenDead === undefined || released.has(reservation) ? [] : [seenDead],
  );
  let isRecorded = true;
  try {
    if (left.length > 0 || readSeenDead(files).length > 0) {
      writeSeenDead(files, left);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    log(`cannot record dead reservations: ${error.message}`);
    isRecorded = false;
  }
  if (has("--yes")) recordCollection(files);
  return { ...collection, released, isRecorded };
}

/** Releases what is due in one network, and removes the temporary files of killed calls. An error is only logged, so that the other networks are still processed. */
function release(
  { system, log }: Context,
  { directory, decided }: Collection,
): ReadonlySet<NodeReservation> {
  const { files, networks } = directory;
  const due = decided.flatMap(({ decision, reservation }) =>
    decision === "due" ? [reservation] : [],
  );
  if (due.length === 0 && !hasLeftOvers(files)) return new Set();
  const request = {
    holder: "host-local gc",
    timeoutSeconds: networks[0].lockTimeoutSeconds,
    history: historyCall(system, networks[0], "gc"),
  };
  try {
    return new Set(
      withLock(files, request, (locked) => {
        locked.files.sweepAll();
        return releaseUnchanged(locked, due);
      }),
    );
  } catch (error) {
    if (!(error instanceof CniError || isSystemError(error))) throw error;
    log(`${files.network}: ${messageWithDetails(error)}`);
    return new Set(due.filter((one) => directory.read(one) === undefined));
  }
}

/** The lock would make a missing directory. */
function hasLeftOvers(files: NetworkFiles): boolean {
  return exists(files.system, files.directory) && files.abandonedFiles().length > 0;
}

/** Whether dead reservations are left: any in a dry run, else those that were due, or any that could not be recorded. */
function isAnythingLeft({ has }: Context, collections: readonly Collection[]): boolean {
  return collections.some(
    ({ decided, released, isRecorded }) =>
      !isRecorded ||
      decided.some(
        ({ decision, seenDead, reservation }) =>
          seenDead !== undefined &&
          !released.has(reservation) &&
          (decision === "due" || !has("--yes")),
      ),
  );
}
