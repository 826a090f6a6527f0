/** Findings on reservations of addresses that an ADD would not hand out to their holders. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { formatRangeSet } from "../../ipam/range-set.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import {
  type AddressInNetwork,
  addressIn,
  describeAddress,
} from "../judgements/address-in-network.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { describeHolder, namedPods, podOrHolder } from "./holder.ts";
import { releaseCommand } from "./remedy-command.ts";

/**
 * Checks whether running pods, or all other holders, would get their addresses again. The addresses of dead holders are to go,
 * whatever their range.
 */
export function outOfRangeFindings(node: Node, of: "running pods" | "others"): readonly Finding[] {
  return node.asked.flatMap((directory) => {
    const ofFormerRange: NodeReservation[] = [];
    const findings: Finding[] = [];
    for (const known of node.liveness.livenessIn(directory)) {
      const { reservation } = known;
      const advice = adviceOn(node, known);
      const isMeant = (advice === RESTART) === (of === "running pods");
      const place = advice && isMeant ? placeOf(node, directory, reservation) : undefined;
      if (place === undefined) continue;
      if (advice === RESTART && place.kind === "outside") ofFormerRange.push(reservation);
      else findings.push({ ...findingOn(node, reservation, place), ...advice });
    }
    return [...findings, ...formerRangeFindings(node, directory, ofFormerRange)];
  });
}

/** The advice on what a running pod holds: release refuses to take it. */
const RESTART: Partial<Finding> = { remedy: "restart its pod, which then gets another address" };

/** The advice on an address of the node itself: it looks alive whether or not its container is. */
const OF_NODE: Partial<Finding> = {
  remedy:
    "restart its pod; if that is gone, release the address with --force: the node itself has it, so that no pod gets it",
};

/** The advice on an address that its holder would not get again; `undefined` for one that a dead container holds. */
function adviceOn(
  { liveness: { whose } }: Node,
  { reservation, conclusion: { liveness } }: KnownReservation,
): Partial<Finding> | undefined {
  if (whose.nodeAddresses().has(reservation.text)) return OF_NODE;
  if (liveness === "alive") return RESTART;
  // A file that names no container is no leak, so gc does not release it.
  const isLeak = liveness === "dead" && containerOf(reservation.owner) !== "";
  return isLeak ? undefined : { commands: [releaseCommand(reservation)] };
}

function findingOn(node: Node, reservation: NodeReservation, place: AddressInNetwork): Finding {
  const { network, path, owner } = reservation;
  const holder = containerOf(owner) === "" ? "" : `, held by ${describeHolder(node, reservation)}`;
  const message = `${reservation.text} is ${describeAddress(place)}${holder}`;
  return { code: "out-of-range", network: network.files.network, path, file: reservation, message };
}

/** All pods of a former range are one finding: there is nothing to release while they live. */
function formerRangeFindings(
  node: Node,
  { files, ranges }: NetworkDirectory,
  reservations: readonly NodeReservation[],
): readonly Finding[] {
  if (reservations.length === 0) return [];
  const holders = new Set(reservations.map((held) => `${podOrHolder(node, held)} (${held.text})`));
  const which = verbFor(holders.size, "has an address", "have addresses");
  const message = `${plural(holders.size, "running pod")} ${which} outside all ranges (${formatRangeSet(ranges)}): ${namedPods([...holders])}`;
  return [
    {
      code: "out-of-range",
      network: files.network,
      path: files.directory,
      message,
      remedy:
        "restart these pods where capacity shows that addresses are free: they get one of a range",
      commands: [
        { files, words: ["capacity", files.network] },
        { files, words: ["list", files.network] },
      ],
    },
  ];
}

/** Which place counts where configurations of a network differ. */
const FIRST = ["gateway", "reserved", "excluded", "otherNode", "outside"] as const;

/** The place of an address that keeps ADD from handing it out to its holder; `undefined` where ADD would, or may. */
function placeOf(
  { cache }: Node,
  { networks }: NetworkDirectory,
  reservation: NodeReservation,
): AddressInNetwork | undefined {
  const places = networks.map((network) => addressIn(network, reservation.address));
  const [place] = FIRST.flatMap((kind) => places.find((place) => place.kind === kind) ?? []);
  if (place === undefined || place.kind === "gateway") return place;
  const pod = cache.podOf(reservation);
  const isItsOwn = places.some((place) => {
    if (place.kind !== "reserved") return place.kind === "handedOut" || place.kind === "unknown";
    // A holder whose pod is not known may be that pod.
    return place.entry.pod !== undefined && (pod === "" || pod === place.entry.pod);
  });
  // A file that names no container does no harm where nobody else gets the address.
  const isWithheld = place.kind === "reserved" || place.kind === "excluded";
  const isHarmless = isWithheld && containerOf(reservation.owner) === "";
  return isItsOwn || isHarmless ? undefined : place;
}
