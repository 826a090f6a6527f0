/** Findings on reservations whose containers seem to be dead. */

import { plural } from "../../cli/output/plural.ts";
import { attempt, type System } from "../../system/system.ts";
import type { ConcludedReservation } from "../node/liveness.ts";
import type { NetworkDirectory, NodeReservation } from "../node/network-directory.ts";
import { commandText } from "../node/next-command.ts";
import type { Node } from "../node/node.ts";
import { containerOf } from "../node/node-reservations.ts";
import type { ResultsCache } from "../node/results-cache.ts";
import type { Code, Finding } from "./finding.ts";

/**
 * A younger reservation is not reported, in milliseconds: the runtime may be about to release it. After a restart of the
 * node, kubelet removes all pods from before within minutes.
 */
const GRACE = 10 * 60_000;

const LARGEST_UPTIME = 4096;

/**
 * Checks for reservations of dead containers.
 *
 * @param directories those that are checked
 */
export function leakFindings(
  { context, cache, liveness: checker }: Node,
  directories: readonly NetworkDirectory[],
): readonly Finding[] {
  const { system } = context;
  if (hasJustStarted(system)) return [];
  const youngest = system.now() - GRACE;
  return directories.flatMap(({ files, reservations }) => {
    const concluded = checker.livenessOfAll(reservations);
    const old = concluded.filter(({ reservation }) => isOld(reservation, youngest));
    // ADD takes the addresses of those from before this boot by itself.
    const counted = old.filter(({ reservation }) => !reservation.isBeforeBoot);
    const commands = [commandText(context, files, ["gc", files.network])];
    const leaked = counted.filter(isLeaked).map((one) => new Leak(one, cache, commands));
    const unknown = counted.filter(({ conclusion }) => conclusion.liveness === "unknown");
    const [first] = unknown;
    if (first === undefined) return leaked;
    // What cannot be seen is said: it is not the same as no leak.
    const { reason } = first.conclusion;
    const message = `whether ${unknown.length} of ${plural(old.length, "reservation")} leaked cannot be seen: ${reason}`;
    return [
      ...leaked,
      { code: "leaks-unknown", network: files.network, path: files.directory, message },
    ];
  });
}

/** Whether a container is dead, or is alive by a mount alone. */
function isLeaked({ conclusion }: ConcludedReservation): boolean {
  const { liveness } = conclusion;
  return liveness === "dead" || (liveness === "alive" && conclusion.by === "mount");
}

/** The finding on one. Metrics only count: neither is its path made, nor is the cache asked for its pod. */
class Leak implements Finding {
  readonly code: Code;
  readonly isOnFile = true;
  readonly commands: readonly string[];
  readonly #one: ConcludedReservation;
  readonly #cache: ResultsCache;

  /** @param commands that release those of dead containers */
  constructor(one: ConcludedReservation, cache: ResultsCache, commands: readonly string[]) {
    const isDead = one.conclusion.liveness === "dead";
    this.code = isDead ? "leaked-reservation" : "sandbox-without-process";
    this.commands = isDead ? commands : [];
    this.#one = one;
    this.#cache = cache;
  }

  get network(): string {
    return this.#one.reservation.network.files.network;
  }

  get path(): string {
    return this.#one.reservation.path;
  }

  get message(): string {
    const { reservation, conclusion } = this.#one;
    const container = containerOf(reservation.owner);
    const pod = this.#cache.podOf(reservation);
    const holder = pod === "" ? container : `${container} of ${pod}`;
    return `${reservation.text} is held by ${holder}: ${conclusion.reason}`;
  }
}

function isOld({ owner, since }: NodeReservation, youngest: number): boolean {
  return containerOf(owner) !== "" && since !== undefined && since <= youngest;
}

/** `/proc/uptime` begins with the seconds since the start. */
function hasJustStarted(system: System): boolean {
  const text = attempt(() => system.readFile("/proc/uptime", LARGEST_UPTIME), undefined);
  return text !== undefined && Number.parseFloat(text) * 1000 < GRACE;
}
