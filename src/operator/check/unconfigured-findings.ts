/** Findings on directories of networks that no configuration names, or that have another data directory by theirs. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { isWithin } from "../../ipam/address.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { mayBeConfigured } from "../configured/configuration-files.ts";
import { describeReaders, type Runtime } from "../configured/runtime.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { namedPods, podOrHolder } from "./holder.ts";

/**
 * Looks for the pods of such networks: after a network was renamed, or its data directory changed, those from before still have
 * addresses that are handed out again. Reservations of dead containers are ignored.
 */
export function unconfiguredFindings(node: Node): readonly Finding[] {
  const { asked, directories, places } = node;
  const configured = directories.filter(({ sources }) => sources.length > 0);
  return directories.flatMap((former): readonly Finding[] => {
    const isAsked = asked.includes(former);
    if (former.sources.length > 0) return [];
    const reason = reasonFor(node, former, configured);
    if (places.unheeded.length > 0 && !reason.hasMoved) {
      return isAsked ? [perhapsElsewhere(former, places.unheeded)] : [];
    }
    const others = configured.filter((other) => isAsked || asked.includes(other));
    const finding = findingOn(node, former, others, reason);
    const isMeant = isAsked || finding?.severity === "error";
    return finding !== undefined && isMeant ? [finding] : [];
  });
}

/** What configures the network may be in a directory that this command did not read. */
function perhapsElsewhere(
  { files: { network, directory } }: NetworkDirectory,
  unheeded: readonly Runtime[],
): Finding {
  return {
    ...{ code: "unconfigured-network", severity: "info", network, path: directory },
    message: `no configuration that was read names this network, but ${describeReaders(unheeded)}, which was not read`,
    remedy: "name the directory that the runtime reads (--conf-dir)",
  };
}

/** Why a directory is that of no configured network. */
interface Reason {
  readonly message: string;
  /** Whether the network has another data directory now. */
  readonly hasMoved: boolean;
  /** Whether a file that cannot be read may configure it: then only what other networks hand out is a finding. */
  readonly isDoubted: boolean;
  /** Whether it is a finding without any container. */
  readonly isReported: boolean;
}

function reasonFor(
  { files: all, problems }: Node,
  { files: { network } }: NetworkDirectory,
  configured: readonly NetworkDirectory[],
): Reason {
  const moved = configured.find(({ files }) => files.network === network);
  if (moved !== undefined) {
    const message = `ipam.dataDir of this network is ${moved.files.dataDir} now`;
    return { message, hasMoved: true, isDoubted: false, isReported: true };
  }
  if (mayBeConfigured(network, all, problems)) {
    const message = "no configuration that can be read names this network";
    return { message, hasMoved: false, isDoubted: true, isReported: false };
  }
  // It may be in the API server, for multus: of a network that has no pod no cache tells then.
  const hasMultus = all.some(({ callsOthers }) => callsOthers);
  const unless = hasMultus ? ", unless a NetworkAttachmentDefinition does" : "";
  const message = `no configuration names this network${unless}`;
  return { message, hasMoved: false, isDoubted: false, isReported: !hasMultus };
}

/** What comes before the remedy where a configuration cannot be read. */
const UNREAD = "correct the configuration that cannot be read. Unless it is that of this network, ";

/** Whoever goes back later makes the pods since then those of a former network. */
const BY_MISTAKE =
  "If the change was a mistake, and no pod got an address by it since, take it back instead";

/** @param others networks that may hand out the same addresses */
function findingOn(
  { cache, liveness, networks }: Node,
  { files, reservations }: NetworkDirectory,
  others: readonly NetworkDirectory[],
  { message, isDoubted, isReported }: Reason,
): Finding | undefined {
  const living = new Set<string>();
  const unknown = new Set<string>();
  const shared: string[] = [];
  const sharing = new Set<string>();
  for (const { reservation, conclusion } of liveness.livenessOfAll(reservations)) {
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
  const { network, directory: path } = files;
  const about = { code: "unconfigured-network", network, path } as const;
  if (shared.length > 0) {
    return {
      ...about,
      severity: "error",
      message: `${message}, but ${[...sharing].join(" and ")} hands out its addresses, too: ${namedPods(shared)}`,
      remedy: `${isDoubted ? UNREAD : ""}restart these pods now, then run gc: new pods get the same addresses. ${BY_MISTAKE}`,
      commands: [{ files, words: ["list", network] }],
    };
  }
  if (isDoubted) return undefined;
  if (living.size > 0) {
    const isOnly = networks.every(({ source }) => source === undefined);
    return {
      ...about,
      // Without any other nothing deletes these pods, or starts new ones.
      severity: isReported && isOnly ? "error" : "warning",
      message: `${message}; it has ${plural(living.size, "running pod")}: ${namedPods([...living])}`,
      remedy: `restart these pods, then run gc: their DEL goes elsewhere. Remove the directory once it has no reservation. ${BY_MISTAKE}`,
      commands: [{ files, words: ["gc", network] }],
    };
  }
  const { size } = unknown;
  if (size === 0) return isReported ? { ...about, message } : undefined;
  return {
    ...about,
    message: `${message}; whether ${plural(size, "container")} of it ${verbFor(size, "runs", "run")} is not known`,
    remedy:
      "if the runtime has none of its containers, release its reservations and remove the directory",
  };
}
