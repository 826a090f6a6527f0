/** Findings on networks that have a directory, and that no configuration names. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { isWithin } from "../../ipam/address.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { callsOthers } from "../configured/configuration-files.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { commandText } from "../next-command.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { namedPods } from "./pods-in-subnet.ts";

/**
 * Looks for the pods of such networks: after a network was renamed, those from before still have addresses that are handed
 * out again. Reservations of dead containers are ignored.
 *
 * @param isSelected only networks for which this holds, or whose addresses such a network hands out
 */
export function unconfiguredFindings(
  node: Node,
  isSelected: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const configured = node.directories.filter(({ sources }) => sources.length > 0);
  const hasMultus = node.files.some(callsOthers);
  return node.directories.flatMap((former) => {
    if (former.sources.length > 0) return [];
    const others = configured.filter((one) => isSelected(one) || isSelected(former));
    const finding = findingOn(node, former, others, hasMultus);
    if (finding === undefined) return [];
    return finding.severity === "error" || isSelected(former) ? [finding] : [];
  });
}

/**
 * @param others networks that may hand out the same addresses
 * @param hasMultus whether it may be in the API server, for multus: of a network that has no pod no cache tells then
 */
function findingOn(
  { context, cache, liveness }: Node,
  { files, reservations }: NetworkDirectory,
  others: readonly NetworkDirectory[],
  hasMultus: boolean,
): Finding | undefined {
  const living = new Set<string>();
  const unknown = new Set<string>();
  const shared: string[] = [];
  const sharing = new Set<string>();
  for (const { reservation, conclusion } of liveness.livenessOfAll(reservations)) {
    const { liveness: state } = conclusion;
    const { address, owner, name, text } = reservation;
    // A process may have an address whose file names no container.
    const container = containerOf(owner) || (state === "alive" ? name : "");
    if (state === "dead" || container === "") continue;
    const holder = cache.podOf(reservation) || container;
    if (state === "alive") living.add(holder);
    else unknown.add(container);
    const other = others.find(({ ranges }) => ranges.some((range) => isWithin(address, range)));
    if (other === undefined) continue;
    shared.push(`${text} (${holder})`);
    sharing.add(other.files.network);
  }
  const message = hasMultus
    ? "no configuration names this network, unless a NetworkAttachmentDefinition does"
    : "no configuration names this network";
  const { network, directory: path } = files;
  const about = { code: "unconfigured-network", network, path } as const;
  if (shared.length > 0) {
    return {
      ...about,
      severity: "error",
      message: `${message}, but ${[...sharing].join(" and ")} hands out its addresses, too: ${namedPods(shared)}`,
      remedy:
        "give the network its former name back until these pods have ended, or restart them now; new pods get the same addresses",
      commands: [commandText(context, files, ["list", network])],
    };
  }
  if (living.size > 0) {
    return {
      ...about,
      severity: "warning",
      message: `${message}, which has ${plural(living.size, "running pod")}: ${namedPods([...living])}`,
      remedy:
        "if its configuration was removed or its name changed by mistake, bring that back before these pods end; otherwise restart them, and run gc, since their DEL goes to another network; remove the directory when it has no reservation",
      commands: [commandText(context, files, ["gc", network])],
    };
  }
  const { size } = unknown;
  if (size === 0) return hasMultus ? undefined : { ...about, message };
  return {
    ...about,
    message: `${message}; whether ${plural(size, "container")} of it ${verbFor(size, "runs", "run")} is not known`,
    remedy:
      "if the runtime has none of its containers, release its reservations and remove the directory",
  };
}
