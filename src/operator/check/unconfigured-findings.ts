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
  const isAsked = (one: NetworkDirectory): boolean => node.asked.includes(one);
  const configured = node.directories.filter(({ sources }) => sources.length > 0);
  const { unheeded } = node.places;
  const isKnown = ({ files }: NetworkDirectory): boolean =>
    configured.some((one) => one.files.network === files.network);
  return node.directories.flatMap((former) => {
    if (former.sources.length > 0) return [];
    if (unheeded.length > 0 && !isKnown(former)) {
      return isAsked(former) ? [perhapsElsewhere(former, unheeded)] : [];
    }
    const others = configured.filter((one) => isAsked(one) || isAsked(former));
    const finding = findingOn(node, former, others, reasonFor(node, former, configured));
    if (finding === undefined) return [];
    return finding.severity === "error" || isAsked(former) ? [finding] : [];
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
  /** How its pods become those of a configured network again. */
  readonly back: string;
  /** Where the network is now; `undefined` where it may be any other. */
  readonly moved: NetworkDirectory | undefined;
  /** Whether it is certain; else only what other networks hand out is a finding. */
  readonly isKnown: boolean;
  /** Whether it is a finding without any container. */
  readonly isReported: boolean;
  /** Whether no other network is configured. */
  readonly isOnly: boolean;
}

function reasonFor(
  { files: all, problems }: Node,
  { files: { network, dataDir } }: NetworkDirectory,
  configured: readonly NetworkDirectory[],
): Reason {
  const isOnly = configured.length === 0;
  const moved = configured.find((one) => one.files.network === network);
  if (moved !== undefined) {
    const message = `ipam.dataDir of this network is ${moved.files.dataDir} now`;
    const back = `set ipam.dataDir back to ${dataDir}`;
    return { message, back, moved, isKnown: true, isReported: true, isOnly };
  }
  const back = "give the network its former configuration, or name, back";
  if (mayBeConfigured(network, all, problems)) {
    const message = "no configuration that can be read names this network";
    return { message, back, moved, isKnown: false, isReported: false, isOnly };
  }
  // It may be in the API server, for multus: of a network that has no pod no cache tells then.
  const hasMultus = all.some(({ callsOthers }) => callsOthers);
  const unless = hasMultus ? ", unless a NetworkAttachmentDefinition does" : "";
  const message = `no configuration names this network${unless}`;
  return { message, back, moved, isKnown: true, isReported: !hasMultus, isOnly };
}

/** @param others networks that may hand out the same addresses */
function findingOn(
  { cache, liveness }: Node,
  { files, reservations }: NetworkDirectory,
  others: readonly NetworkDirectory[],
  { message, back, moved, isKnown, isReported, isOnly }: Reason,
): Finding | undefined {
  const living = new Set<string>();
  const unknown = new Set<string>();
  const shared: string[] = [];
  const sharing = new Set<NetworkDirectory>();
  for (const { reservation, conclusion } of liveness.livenessOfAll(reservations)) {
    const { liveness: state } = conclusion;
    const { address, owner, name, text } = reservation;
    // A process may have an address whose file names no container.
    const container = containerOf(owner) || (state === "alive" ? name : "");
    if (state === "dead" || container === "") continue;
    const holder = container === name ? name : podOrHolder({ cache }, reservation);
    if (state === "alive") living.add(holder);
    else unknown.add(container);
    const other = others.find(({ ranges }) => ranges.some((range) => isWithin(address, range)));
    if (other === undefined) continue;
    shared.push(`${text} (${holder})`);
    sharing.add(other);
  }
  const { network, directory: path } = files;
  const about = { code: "unconfigured-network", network, path } as const;
  // Whoever goes back makes the pods of the other ones those of a former network.
  const canGoBack = (moved === undefined ? [...sharing] : [moved])
    .flatMap((one) => liveness.livenessOfAll(one.reservations))
    .every(({ conclusion }) => conclusion.liveness === "dead");
  if (shared.length > 0) {
    const names = new Set([...sharing].map((one) => one.files.network));
    return {
      ...about,
      severity: "error",
      message: `${message}, but ${[...names].join(" and ")} hands out its addresses, too: ${namedPods(shared)}`,
      remedy: `${isKnown ? "" : UNREAD}${canGoBack ? `${back} until these pods have ended, or ` : ""}restart these pods now, then run gc: new pods get the same addresses`,
      commands: [{ files, words: ["list", network] }],
    };
  }
  if (!isKnown) return undefined;
  if (living.size > 0) {
    return {
      ...about,
      // Without any other nothing deletes these pods, or starts new ones.
      severity: isReported && isOnly ? "error" : "warning",
      message: `${message}; it has ${plural(living.size, "running pod")}: ${namedPods([...living])}`,
      remedy: `${canGoBack ? `if that is a mistake, ${back} before these pods end. Otherwise ` : ""}restart these pods, then run gc: their DEL goes elsewhere. Remove the directory once it has no reservation`,
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

/** What comes before the remedy where a configuration cannot be read. */
const UNREAD = "correct the configuration that cannot be read. Unless it is that of this network, ";
