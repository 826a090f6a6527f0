import { CniError, wholeMessage } from "../cni/error.ts";
import { underLock } from "../store/lock.ts";
import { ownerText } from "../store/owner.ts";
import { modifiedOf, releaseSeen } from "../store/release-seen.ts";
import { readSightings, type Sighting, writeSightings } from "../store/sightings.ts";
import { isSystemError } from "../system/system.ts";
import type { Command, Context, Report } from "./command.ts";
import { parseDuration } from "./duration.ts";
import { type Collection, collectionDocument, formatCollection } from "./gc-report.ts";
import { type Item, requireReadable } from "./inventory.ts";
import { type LiveSource, liveSourceOf, sourceOptions } from "./live-source.ts";
import { findNetworks, tellProblems } from "./networks.ts";
import type { Place } from "./places.ts";
import { cacheOption } from "./results-cache.ts";
import { takeStock } from "./stock.ts";
import { judgeBy } from "./verdict.ts";

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
  const { system, tell } = context;
  const readSource = liveSourceOf(context);
  const grace = parseDuration(context.option("--grace") ?? "10m", "--grace");
  const { found, bad } = findNetworks(context, context.operands[0]);
  tellProblems(context, bad);
  const readAt = system.now();
  const stocks = takeStock(system, found);
  for (const { items } of stocks) requireReadable(items);
  const source = readSource(readAt);
  const judged = stocks.map(({ place, items }) => judge(context, grace, source, place, items));
  const collections = judged.map((collection) => {
    const refused = refusal(context, source, collection);
    return refused === undefined ? finish(context, collection) : { ...collection, refused };
  });
  const refusals = new Set(collections.flatMap(({ refused }) => refused ?? []));
  for (const refused of refusals) tell(`host-local: ${refused}\n`);
  return {
    exitCode: refusals.size > 0 || isAnythingLeft(context, collections) ? 1 : 0,
    document: collectionDocument(collections, !context.has("--yes")),
    text: formatCollection(collections, !context.has("--yes")),
  };
}

function judge(
  { system, has }: Context,
  grace: number,
  source: LiveSource,
  place: Place,
  items: readonly Item[],
): Collection {
  const { location } = place;
  const judgeOne = judgeBy({
    asOf: source.asOf,
    grace,
    isImmediate: has("--now"),
    before: readSightings(system, location),
  });
  const judged = items.map((item) => {
    const owner = ownerText(item.owner);
    const life = owner === undefined ? "unknown" : source.lifeOf(item);
    const modified = owner === undefined ? undefined : modifiedOf(system, location, item.name);
    const seen =
      owner === undefined || modified === undefined
        ? undefined
        : { name: item.name, owner, modified };
    return { ...judgeOne({ seen, life }), item };
  });
  return { place, judged, released: new Set(), refused: undefined, isNoted: true };
}

/**
 * Why nothing may be released in a network, although it seems dead. A list that is wrong is wrong each time: seeing it
 * twice proves nothing.
 */
function refusal(
  { has }: Context,
  source: LiveSource,
  { place, judged }: Collection,
): string | undefined {
  if (has("--allow-empty") || !judged.some(({ sighting }) => sighting)) return undefined;
  if (source.isEmpty) {
    return "the list of live containers is empty; nothing was released. If nothing is alive indeed, add --allow-empty";
  }
  if (has("--by-netns") || judged.some(({ verdict }) => verdict === "alive")) return undefined;
  return `none of the live ids holds an address of ${place.location.network}; nothing was released there. Are they ids of pod sandboxes, of the runtime that uses this network? If they are, add --allow-empty`;
}

/** Releases what is due, and notes what is not. */
function finish(context: Context, collection: Collection): Collection {
  const { system, tell, has } = context;
  const { location } = collection.place;
  const released = has("--yes") ? release(context, collection) : new Set<string>();
  const left = collection.judged.flatMap(({ sighting, item }) =>
    sighting === undefined || released.has(item.name) ? [] : [sighting],
  );
  let isNoted = true;
  try {
    if (left.length > 0 || readSightings(system, location).length > 0) {
      writeSightings(system, location, left);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    tell(`host-local: what was seen dead could not be noted: ${error.message}\n`);
    isNoted = false;
  }
  return { ...collection, released, isNoted };
}

/** One network that is locked, or cannot be written, does not keep the others from being cleaned up. */
function release({ system, tell }: Context, { place, judged }: Collection): ReadonlySet<string> {
  const { location, networks } = place;
  const due = judged.flatMap(({ verdict, sighting }) =>
    verdict === "due" && sighting !== undefined ? [sighting] : [],
  );
  if (due.length === 0) return new Set();
  const wish = { holder: "host-local gc", timeoutSeconds: networks[0].lockTimeoutSeconds };
  try {
    return new Set(underLock(system, location, wish, (ledger) => releaseSeen(ledger, due)));
  } catch (error) {
    if (!(error instanceof CniError || isSystemError(error))) throw error;
    tell(`host-local: ${location.network}: ${wholeMessage(error)}\n`);
    const isGone = ({ name }: Sighting): boolean =>
      modifiedOf(system, location, name) === undefined;
    return new Set(due.filter(isGone).map(({ name }) => name));
  }
}

/** In a dry run everything that is dead; otherwise what could not be released, or will never be since nothing is noted. */
function isAnythingLeft({ has }: Context, collections: readonly Collection[]): boolean {
  return collections.some(
    ({ judged, released, isNoted }) =>
      !isNoted ||
      judged.some(
        ({ verdict, sighting, item }) =>
          sighting !== undefined &&
          !released.has(item.name) &&
          (verdict === "due" || !has("--yes")),
      ),
  );
}
