/** Findings on directories of networks that no configuration names, or that have another data directory by theirs. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { isWithin } from "../../ipam/address.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { unheededRuntimes } from "../configured/configuration-directories.ts";
import { mayBeConfigured } from "../configured/configuration-files.ts";
import { describeReaders, type Runtime } from "../configured/runtime.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { podOrHolder } from "./holder.ts";
import { namedPods } from "./pods-in-subnet.ts";

/**
 * Looks for the pods of such networks: after a network was renamed, or its data directory changed, those from before still have
 * addresses that are handed out again. Reservations of dead containers are ignored.
 *
 * @param isSelected only networks for which this holds, or whose addresses such a network hands out
 */
export function unconfiguredFindings(
  node: Node,
  isSelected: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const configured = node.directories.filter(({ sources }) => sources.length > 0);
  const unheeded = unheededRuntimes(node.context);
  const isKnown = ({ files }: NetworkDirectory): boolean =>
    configured.some((one) => one.files.network === files.network);
  return node.directories.flatMap((former) => {
    if (former.sources.length > 0) return [];
    if (unheeded.length > 0 && !isKnown(former)) {
      return isSelected(former) ? [perhapsElsewhere(former, unheeded)] : [];
    }
    const others = configured.filter((one) => isSelected(one) || isSelected(former));
    const finding = findingOn(node, former, others, reasonFor(node, former, configured));
    if (finding === undefined) return [];
    return finding.severity === "error" || isSelected(former) ? [finding] : [];
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

/** Why a directory is that of no configured network, in the words of its findings. */
interface Reason {
  readonly code: "unconfigured-network" | "data-directory-changed";
  readonly message: string;
  /** Between `message` and the addresses that `others` hand out. */
  readonly shared: (others: string) => string;
  /** @param canGoBack whether no pod loses its own network or directory by that */
  readonly sharedRemedy: (canGoBack: boolean) => string;
  /** Between `message` and the running pods. */
  readonly living: (pods: string) => string;
  readonly livingRemedy: (canGoBack: boolean) => string;
  /** Where the network is now; `undefined` where it may be any other. */
  readonly moved: NetworkDirectory | undefined;
  /** Whether it is certain; else only what other networks hand out is a finding. */
  readonly isKnown: boolean;
  /** Whether it is a finding without any container. */
  readonly isReported: boolean;
}

function reasonFor(
  { files: all, problems }: Node,
  { files }: NetworkDirectory,
  configured: readonly NetworkDirectory[],
): Reason {
  const { network, dataDir } = files;
  const moved = configured.find((one) => one.files.network === network);
  if (moved !== undefined) return changed(dataDir, moved);
  // It may be in the API server, for multus: of a network that has no pod no cache tells then.
  const hasMultus = all.some(({ callsOthers }) => callsOthers);
  const unless = hasMultus ? ", unless a NetworkAttachmentDefinition does" : "";
  if (!mayBeConfigured(network, all, problems)) {
    const message = `no configuration names this network${unless}`;
    return { ...UNCONFIGURED, message, isKnown: true, isReported: !hasMultus };
  }
  return {
    ...UNCONFIGURED,
    message: "no configuration that can be read names this network",
    sharedRemedy: (canGoBack) =>
      `correct the configuration that cannot be read. Unless it is that of this network, ${UNCONFIGURED.sharedRemedy(canGoBack)}`,
    isKnown: false,
    isReported: false,
  };
}

const UNCONFIGURED = {
  code: "unconfigured-network",
  shared: (others: string) => `, but ${others} hands out its addresses, too: `,
  sharedRemedy: (canGoBack: boolean) =>
    `${canGoBack ? "give the network its former name back until these pods have ended, or " : ""}restart these pods now: new pods get the same addresses`,
  living: (pods: string) => `, which has ${pods}: `,
  livingRemedy: () =>
    "if its configuration was removed by mistake, restore it before these pods end. Otherwise restart them, then run gc: their DEL goes to another network. Remove the directory once it has no reservation",
  moved: undefined,
} as const satisfies Partial<Reason>;

function changed(former: string, moved: NetworkDirectory): Reason {
  const back = `set ipam.dataDir back to ${former}`;
  const del = "then run gc: their DEL goes to the other directory";
  return {
    code: "data-directory-changed",
    message: `ipam.dataDir of this network is ${moved.files.dataDir} now`,
    shared: () => ", from which new pods get addresses that are in use here: ",
    sharedRemedy: (canGoBack) => `${canGoBack ? `${back}, or ` : ""}restart these pods now, ${del}`,
    living: (pods) => `; here it has ${pods}: `,
    livingRemedy: (canGoBack) =>
      `${canGoBack ? `${back} before these pods end, or ` : ""}restart these pods, ${del}. Remove this one once it has no reservation`,
    moved,
    isKnown: true,
    isReported: true,
  };
}

/** @param others networks that may hand out the same addresses */
function findingOn(
  { cache, liveness }: Node,
  { files, reservations }: NetworkDirectory,
  others: readonly NetworkDirectory[],
  reason: Reason,
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
  const { code, message, isKnown, isReported, moved } = reason;
  const about = { code, network, path };
  // Whoever goes back makes the pods of the other ones those of a former network.
  const canGoBack = (): boolean =>
    (moved === undefined ? [...sharing] : [moved])
      .flatMap((one) => liveness.livenessOfAll(one.reservations))
      .every(({ conclusion }) => conclusion.liveness === "dead");
  if (shared.length > 0) {
    const names = new Set([...sharing].map((one) => one.files.network));
    return {
      ...about,
      severity: "error",
      message: `${message}${reason.shared([...names].join(" and "))}${namedPods(shared)}`,
      remedy: reason.sharedRemedy(canGoBack()),
      commands: [{ files, words: ["list", network] }],
    };
  }
  if (!isKnown) return undefined;
  if (living.size > 0) {
    return {
      ...about,
      severity: "warning",
      message: `${message}${reason.living(plural(living.size, "running pod"))}${namedPods([...living])}`,
      remedy: reason.livingRemedy(canGoBack()),
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
