/** Findings on reservations of addresses that an ADD would not hand out to their holders. */

import { plural } from "../../cli/output/plural.ts";
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

/** Checks whether running pods would get their addresses again. */
export function outOfRangePodFindings(node: Node): readonly Finding[] {
  return node.asked.flatMap((directory) => {
    const outside: NodeReservation[] = [];
    const others: Finding[] = [];
    for (const { reservation, conclusion } of knownIn(node, directory)) {
      if (conclusion.liveness !== "alive" || isOfNode(node, reservation)) continue;
      const place = placeOf(node, directory, reservation);
      if (place?.kind === "outside") outside.push(reservation);
      else if (place !== undefined) {
        others.push({ ...findingOn(node, reservation, place), remedy: RESTART });
      }
    }
    return [...others, ...outsideFindings(node, directory, outside)];
  });
}

/** Checks the same of who may live, or is the node itself. What the dead hold is to go, whatever range it is of. */
export function outOfRangeFindings(node: Node): readonly Finding[] {
  return node.asked.flatMap((directory) => {
    const findings: Finding[] = [];
    for (const { reservation, conclusion } of knownIn(node, directory)) {
      const isNode = isOfNode(node, reservation);
      const { liveness } = conclusion;
      // A file that names no container is no leak, which gc would release.
      const isUnowned = liveness === "dead" && containerOf(reservation.owner) === "";
      const isLeft = liveness === "unknown" || isUnowned;
      const place = isNode || isLeft ? placeOf(node, directory, reservation) : undefined;
      if (place === undefined) continue;
      const found = findingOn(node, reservation, place);
      const advice = isNode ? { remedy: OF_NODE } : { commands: [releaseCommand(reservation)] };
      findings.push({ ...found, ...advice });
    }
    return findings;
  });
}

function knownIn(
  { liveness }: Node,
  { reservations }: NetworkDirectory,
): readonly KnownReservation[] {
  return liveness.livenessOfAll(reservations);
}

function isOfNode({ liveness }: Node, { text }: NodeReservation): boolean {
  return liveness.whose.nodeAddresses().has(text);
}

/** The remedy for what a running pod holds: release refuses to take it. */
const RESTART = "restart its pod, which then gets another address";

/** The remedy for what the node itself has, which looks alive whether or not its container is. */
const OF_NODE =
  "restart its pod; if that is gone, release the address with --force: the node itself has it, so that no pod gets it";

function findingOn(node: Node, reservation: NodeReservation, place: AddressInNetwork): Finding {
  const { network, path, owner } = reservation;
  const holder = containerOf(owner) === "" ? "" : `, held by ${describeHolder(node, reservation)}`;
  const message = `${reservation.text} is ${describeAddress(place)}${holder}`;
  return { code: "out-of-range", network: network.files.network, path, file: reservation, message };
}

/** All pods of a former range are one finding: there is nothing to release while they live. */
function outsideFindings(
  node: Node,
  { files, ranges }: NetworkDirectory,
  reservations: readonly NodeReservation[],
): readonly Finding[] {
  if (reservations.length === 0) return [];
  const holders = new Set(reservations.map((one) => `${podOrHolder(node, one)} (${one.text})`));
  const [verb, which] = holders.size === 1 ? ["has", "an address"] : ["have", "addresses"];
  const message = `${plural(holders.size, "running pod")} ${verb} ${which} outside all ranges (${formatRangeSet(ranges)}): ${namedPods([...holders])}`;
  const [it, get] = holders.size === 1 ? ["it", "it gets"] : ["them", "they get"];
  return [
    {
      code: "out-of-range",
      network: files.network,
      path: files.directory,
      message,
      remedy: `restart ${it} where capacity shows that addresses are free: ${get} one of a range`,
      commands: [
        { files, words: ["capacity", files.network] },
        { files, words: ["list", files.network] },
      ],
    },
  ];
}

/** Which place counts where configurations of a network differ. */
const FIRST = ["gateway", "reserved", "excluded", "otherNode", "outside"] as const;

/** What an address is, for which ADD would not hand it out to its holder; `undefined` where it would, or may. */
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
    // A holder whose pod is not known may be the one that is meant.
    return place.entry.pod !== undefined && (pod === "" || pod === place.entry.pod);
  });
  // A file that names no container does no harm where nobody else gets the address.
  const isWithheld = place.kind === "reserved" || place.kind === "excluded";
  const isHarmless = isWithheld && containerOf(reservation.owner) === "";
  return isItsOwn || isHarmless ? undefined : place;
}
