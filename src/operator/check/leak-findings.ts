/** Findings on reservations whose containers seem to be dead. */

import { formatMinute } from "../../cli/output/minute.ts";
import { plural } from "../../cli/output/plural.ts";
import type { Conclusion } from "../../store/life/conclusion.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { ResultsCache } from "../alive/cache/results-cache.ts";
import { liveCommandOf } from "../gc/runtime-command.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import { leaksAmong } from "../judgements/leaks.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { describeHolder } from "./holder.ts";
import type { RemedyCommand } from "./remedy-command.ts";

/** Why nothing is judged right after a start of the node, behind the time until which that is so. */
const TOO_EARLY =
  "ten minutes after the start of the node: before, its runtime may be about to release what leaked, or what is for a lost sandbox";

const WAIT_OR_LIST = "check again after that, or run gc, which lists now what dead containers hold";

/** The remedy for `sandbox-without-process` where no list of a runtime has the sandbox. */
const UNLISTED =
  "none where its containers are to be started again; if whoever made its network namespace has lost it, remove that: the address is free then";

/** The remedy where nothing tells the list of its runtime from that of another. */
const UNTOLD =
  "none where its containers are to be started again; if the runtime has lost it, start a pod on this node, and run check again: by a pod that runs, its command can tell the runtime's list from that of another";

/** The remedy where only a descriptor holds the namespace of a sandbox, which nothing but its holder can close. */
const OPEN =
  "none where its pod is still known to the runtime; otherwise the address is free once no process has the namespace open";

/** Checks for reservations of dead containers. */
export function leakFindings(node: Node): readonly Finding[] {
  const { asked, cache, facts, liveness } = node;
  return asked.flatMap((directory) => {
    const { files, reservations } = directory;
    const known = liveness.livenessOfAll(reservations);
    const leaks = leaksAmong(known, facts.now(), facts.uptime());
    const { judged, leaked: seen, unknown, judgedFrom } = leaks;
    const commands: LeakFinding["commands"] = [{ files, words: ["gc", files.network] }];
    // What is not known is said: it is not the same as no leak.
    const doubt = (count: number, why: string): Finding => ({
      code: "leaks-unknown",
      network: files.network,
      path: files.directory,
      message: `${count} of ${plural(judged, "reservation")} ${why}`,
    });
    if (judgedFrom !== undefined) {
      const count = seen.length + unknown.length;
      const why = `cannot be judged until ${formatMinute(judgedFrom, facts.now())}, ${TOO_EARLY}`;
      return count === 0 ? [] : [{ ...doubt(count, why), remedy: WAIT_OR_LIST, commands }];
    }
    const leaked = seen.map((one) => {
      if (one.conclusion.liveness !== "alive")
        return new LeakFinding("leaked-reservation", one, cache, commands);
      const { remedy, command } = remedyForSandbox(node, directory, one, known);
      const own = command === undefined ? [] : [command];
      return new LeakFinding("sandbox-without-process", one, cache, own, remedy);
    });
    const [first] = unknown;
    if (first === undefined) return leaked;
    return [
      ...leaked,
      doubt(unknown.length, `may have leaked, which cannot be seen: ${first.conclusion.reason}`),
    ];
  });
}

/**
 * Whether the namespace by which a container is alive is its own, by libcni's cache or the record; or since nothing tells of
 * another container there: what only has its address may be another network's pod.
 */
function isOwnNamespace(
  { facts, liveness }: Node,
  reservation: NodeReservation,
  path: string,
): boolean {
  const own = containerOf(reservation.owner);
  const { attachments } = liveness.whose.known();
  const named = attachments.filter(({ networkNamespace }) => networkNamespace === path);
  if (named.some(({ containerId }) => containerId === own)) return true;
  const fate = facts.fateOf(reservation);
  const found = facts.namespaces().all.find((one) => one.path === path);
  if (fate?.kind === "alive" && fate.namespace === found?.id) return true;
  const beside = liveness.whose.containersBeside(reservation);
  return named.length === 0 && beside.every((containerId) => containerId === own);
}

/** What is done about a sandbox in which no process runs. The command removes its namespace if the runtime has lost it. */
function remedyForSandbox(
  node: Node,
  { networks: [network] }: NetworkDirectory,
  { conclusion, reservation }: KnownReservation,
  known: readonly KnownReservation[],
): { readonly remedy?: string; readonly command?: RemedyCommand } {
  if (conclusion.liveness === "alive" && conclusion.by === "descriptor") return { remedy: OPEN };
  const isMounted = conclusion.liveness === "alive" && conclusion.by === "mount";
  const namespace = isMounted ? conclusion.path : undefined;
  const isOwn = namespace !== undefined && isOwnNamespace(node, reservation, namespace);
  const list = isOwn ? liveCommandOf(network, [reservation]) : undefined;
  // Where no runtime makes such ids, every list lacks them.
  if (namespace === undefined || list === undefined) return { remedy: UNLISTED };
  const running = known.find(
    (one) =>
      one.conclusion.liveness === "alive" &&
      one.conclusion.by === "process" &&
      liveCommandOf(network, [one.reservation]) === list,
  );
  if (running === undefined) return { remedy: UNTOLD };
  const containerId = containerOf(reservation.owner);
  const runningId = containerOf(running.reservation.owner);
  return { command: { namespace, containerId, list, runningId } };
}

/** Metrics only count: the path and the message, for which the cache is asked, are made when they are asked for. */
class LeakFinding implements Finding {
  readonly code: "leaked-reservation" | "sandbox-without-process";
  readonly file: NodeReservation;
  readonly commands: readonly RemedyCommand[];
  readonly remedy?: string;
  readonly #conclusion: Conclusion;
  readonly #cache: ResultsCache;

  constructor(
    code: LeakFinding["code"],
    { reservation, conclusion }: KnownReservation,
    cache: ResultsCache,
    commands: readonly RemedyCommand[],
    remedy?: string,
  ) {
    this.code = code;
    if (remedy !== undefined) this.remedy = remedy;
    this.file = reservation;
    this.commands = commands;
    this.#conclusion = conclusion;
    this.#cache = cache;
  }

  get network(): string {
    return this.file.network.files.network;
  }

  get path(): string {
    return this.file.path;
  }

  get message(): string {
    const holder = describeHolder({ cache: this.#cache }, this.file);
    return `${this.file.text} is held by ${holder}: ${this.#conclusion.reason}`;
  }
}
