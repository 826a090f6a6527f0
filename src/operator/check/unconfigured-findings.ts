/** Findings on directories of networks that no configuration names, or that have another data directory by theirs. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { isWithin } from "../../ipam/address.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { requestedConfigurationDirectory } from "../configured/configuration-directories.ts";
import { mayBeConfigured } from "../configured/configuration-files.ts";
import { describeReaders } from "../configured/runtime.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { namedPods, podOrHolder } from "./holder.ts";

/**
 * Looks for the pods of such networks: after a network was renamed, or its data directory changed, those from before still have
 * addresses that are handed out again. Reservations of dead containers are ignored.
 */
export function unconfiguredFindings(node: Node): readonly Finding[] {
  const { asked, directories } = node;
  const configured = directories.filter(({ sources }) => sources.length > 0);
  return directories.flatMap((former): readonly Finding[] => {
    if (former.sources.length > 0) return [];
    const isAsked = asked.includes(former);
    const others = configured.filter((other) => isAsked || asked.includes(other));
    const finding = findingOn(node, former, others, reasonFor(node, former, configured));
    const isMeant = isAsked || finding?.severity === "error";
    return finding !== undefined && isMeant ? [finding] : [];
  });
}

/**
 * Why a directory is that of no configured network. `moved`: the network has another data directory now. `elsewhere`: what configures
 * it may be in a directory that this command did not read. `doubted`: a file that cannot be read may configure it. `multus`: it may be
 * in the API server.
 */
interface Reason {
  readonly kind: "moved" | "elsewhere" | "doubted" | "multus" | "none";
  readonly message: string;
  /** What to find out before any pod is restarted. */
  readonly before?: string | undefined;
}

function reasonFor(
  { context, files: all, problems, places: { unheeded } }: Node,
  { files: { network } }: NetworkDirectory,
  configured: readonly NetworkDirectory[],
): Reason {
  const directory = requestedConfigurationDirectory(context);
  const before =
    directory &&
    `does the runtime read another directory than ${directory}? Then name that (--conf-dir). Otherwise `;
  const moved = configured.find(({ files }) => files.network === network);
  if (moved !== undefined) {
    const message = `ipam.dataDir of this network is ${moved.files.dataDir} now`;
    return { kind: "moved", message, before };
  }
  if (unheeded.length > 0) {
    const message = `no configuration that was read names this network, but ${describeReaders(unheeded)}, which was not read`;
    return { kind: "elsewhere", message };
  }
  if (mayBeConfigured(network, all, problems)) {
    const message = "no configuration that can be read names this network";
    return { kind: "doubted", message, before: UNREAD };
  }
  const message = "no configuration names this network";
  return all.some(({ callsOthers }) => callsOthers)
    ? { kind: "multus", message: `${message}, unless a NetworkAttachmentDefinition does`, before }
    : { kind: "none", message, before };
}

/** What comes first where a configuration cannot be read. */
const UNREAD = "correct the configuration that cannot be read. Unless it is that of this network, ";

/**
 * The advice to take a change back, as long as no pod got an address by it: the later pods would be those of a former network.
 */
const BY_MISTAKE =
  "If the change was a mistake, and no pod got an address by it since, take it back instead";

/** @param others networks that may hand out the same addresses */
function findingOn(
  { cache, liveness, networks }: Node,
  directory: NetworkDirectory,
  others: readonly NetworkDirectory[],
  { kind, message, before = "" }: Reason,
): Finding | undefined {
  const { network, directory: path } = directory.files;
  const about = { code: "unconfigured-network", network, path } as const;
  if (kind === "elsewhere") {
    return { ...about, message, remedy: "name the directory that the runtime reads (--conf-dir)" };
  }
  const living = new Set<string>();
  const unknown = new Set<string>();
  const shared: string[] = [];
  const sharing = new Set<string>();
  for (const { reservation, conclusion } of liveness.livenessIn(directory)) {
    const { address, owner, name, text } = reservation;
    const isAlive = conclusion.liveness === "alive";
    // A process may have an address whose file names no container.
    const container = containerOf(owner) || (isAlive ? name : "");
    if (conclusion.liveness === "dead" || container === "") continue;
    const holder = container === name ? name : podOrHolder({ cache }, reservation);
    if (isAlive) living.add(holder);
    else unknown.add(container);
    const other = others.find(({ ranges }) => ranges.some((range) => isWithin(address, range)));
    if (other === undefined) continue;
    shared.push(`${text} (${holder})`);
    sharing.add(other.files.network);
  }
  if (shared.length > 0) {
    return {
      ...about,
      severity: "error",
      message: `${message}, but ${[...sharing].join(" and ")} hands out its addresses, too: ${namedPods(shared)}`,
      remedy: `${before}restart these pods now, then run gc: new pods get the same addresses. ${BY_MISTAKE}`,
      commands: [{ files: directory.files, words: ["list", network] }],
    };
  }
  if (kind === "doubted") return undefined;
  if (living.size > 0) {
    const isOnly = networks.every(({ source }) => source === undefined);
    return {
      ...about,
      // If no other network is configured, nothing deletes these pods, or starts new ones.
      severity: kind !== "multus" && isOnly ? "error" : "warning",
      message: `${message}; it has ${plural(living.size, "running pod")}: ${namedPods([...living])}`,
      remedy: `${before}restart these pods, then run gc: their DEL is called with another configuration. Remove the directory once it has no reservation. ${BY_MISTAKE}`,
      commands: [{ files: directory.files, words: ["gc", network] }],
    };
  }
  const { size } = unknown;
  if (size === 0) return undefined;
  const runs = verbFor(size, "runs", "run");
  const text = `${message}; whether ${plural(size, "container")} of it ${runs} is not known`;
  return { ...about, message: text };
}
