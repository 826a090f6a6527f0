/** Addresses that places have otherwise than the networks have reserved them. */

import type { Address } from "../../ipam/address.ts";
import { rangeOf } from "../../ipam/range-set.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import { areApart } from "./are-apart.ts";
import type { Place } from "./places.ts";

/** What the containers of the node have done with an address. */
export interface AddressInUse {
  readonly address: Address;
  /** The places that have it. */
  readonly places: readonly Place[];
  /** Its reservations in all networks. */
  readonly reservations: readonly NodeReservation[];
  /** The networks of which an ADD would hand it out, were it not in use. */
  readonly unreservedIn: readonly NetworkDirectory[];
}

/** A place that has an address, and for which network. */
export interface Use {
  readonly place: Place;
  /** The network, as far as a reservation or libcni's cache tells. */
  readonly network: NetworkDirectory | undefined;
  /** The reservation that its container holds. */
  readonly reservation: NodeReservation | undefined;
}

export type Misuse =
  /** More places have the address than may. */
  | {
      readonly kind: "twice";
      readonly uses: readonly Use[];
      /** The uses without a reservation. */
      readonly surplus: readonly Use[];
      /**
       * The reservation whose holder is to be restarted, if each place has one because networks share a range: that of a
       * network that is no longer configured, or the youngest.
       */
      readonly toRestart: NodeReservation | undefined;
      /** The reservations of containers that are not known to have the address: one may be that of an unknown place. */
      readonly unplaced: readonly NodeReservation[];
    }
  /** An attachment of a network has the address without a reservation. */
  | {
      readonly kind: "unreserved";
      readonly network: NetworkDirectory;
      readonly attachment: CachedAttachment;
      /** The reservation of another container. */
      readonly held: NodeReservation | undefined;
    }
  /** Places have an address of a network without a reservation, and nothing tells that they have it from that network. */
  | {
      readonly kind: "foreign";
      readonly network: NetworkDirectory;
      readonly places: readonly Place[];
    };

/** What is wrong with the uses of an address. */
export function misusesOf(
  { address, places, reservations, unreservedIn }: AddressInUse,
  networks: readonly NetworkDirectory[],
): readonly Misuse[] {
  const networkOf = ({ network }: CachedAttachment): NetworkDirectory | undefined =>
    networks.find(
      (directory) => directory.files.network === network && mayHandOut(directory, address),
    );
  const uses = places
    .filter(({ kind }) => kind === "container")
    .map((place): Use => {
      const { container, attachments } = place;
      const reservation = reservations.find(
        ({ owner }) => containerOf(owner) === container?.containerId,
      );
      const [network] = attachments.flatMap((attachment) => networkOf(attachment) ?? []);
      return { place, network: reservation?.network ?? network, reservation };
    });
  const twice = usesBeyond(uses, reservations);
  const alone = uses.filter((use) => !twice.includes(use) && use.reservation === undefined);
  const unreserved = alone.flatMap(({ place, network }): readonly Misuse[] => {
    const attachment = place.attachments.find((cached) => networkOf(cached) === network);
    if (network === undefined || attachment === undefined) return [];
    const held = reservations.find((reservation) => reservation.network === network);
    // An empty file is a finding of its own.
    return held?.isEmpty === true ? [] : [{ kind: "unreserved", network, attachment, held }];
  });
  const foreign = unreservedIn.flatMap((network): readonly Misuse[] => {
    const isOwn = uses.some((use) => use.network === network);
    if (isOwn || twice.length > 0) return [];
    const known = uses.map(({ place }) => place);
    const others = places.filter(({ kind }) => kind === "other");
    return [{ kind: "foreign", network, places: known.length > 0 ? known : others }];
  });
  if (twice.length === 0) return [...unreserved, ...foreign];
  return [tooMany(twice, reservations), ...unreserved];
}

function tooMany(uses: readonly Use[], reservations: readonly NodeReservation[]): Misuse {
  const placed = new Set(uses.map(({ reservation }) => reservation));
  const held = reservations.filter(({ owner }) => containerOf(owner) !== "");
  const unplaced = held.filter((reservation) => !placed.has(reservation));
  const without = uses.filter(({ reservation }) => reservation === undefined);
  const isUnknown = ({ place }: Use): boolean => place.container === undefined;
  // The holders of the reservations may be in the places of which nothing tells whose they are.
  const areHolders = without.filter(isUnknown).length <= unplaced.length;
  const surplus = areHolders ? without.filter((use) => !isUnknown(use)) : without;
  const isFormer = ({ network }: NodeReservation): number => Number(network.sources.length === 0);
  const [last] = held.toSorted(
    (a, b) => isFormer(b) - isFormer(a) || (b.since ?? 0) - (a.since ?? 0),
  );
  return {
    kind: "twice",
    uses,
    surplus,
    toRestart: surplus.length === 0 ? last : undefined,
    unplaced,
  };
}

/** Whether a network hands out an address: an attachment may also have addresses of other IPAM plugins. */
function mayHandOut(
  { sources, hasKnownRanges, ranges }: NetworkDirectory,
  address: Address,
): boolean {
  // A network that is no longer configured may now use another IPAM plugin.
  if (sources.length === 0) return false;
  return !hasKnownRanges || rangeOf(ranges, address) !== undefined;
}

/**
 * The uses of an address of which there are too many: networks that never meet may each have one. A use without a reservation
 * counts only if it is known to be of one network: gateways and rootless containers have the same addresses.
 */
function usesBeyond(
  uses: readonly Use[],
  reservations: readonly NodeReservation[],
): readonly Use[] {
  if (uses.length < 2) return [];
  const meeting = meetingNetworks([
    ...reservations.map(({ network }) => network),
    ...uses.flatMap(({ network }) => network ?? []),
  ]);
  const crowded = meeting.find(
    (all) => uses.filter(({ network }) => network && all.includes(network)).length > 1,
  );
  if (crowded !== undefined) {
    return uses.filter(({ network }) => network === undefined || crowded.includes(network));
  }
  return reservations.length > 0 && uses.length > meeting.length ? uses : [];
}

/** Networks in groups of which no pod of one is on a link with a pod of another. */
function meetingNetworks(networks: readonly NetworkDirectory[]): readonly NetworkDirectory[][] {
  const groups: NetworkDirectory[][] = [];
  for (const network of new Set(networks)) {
    const group = groups.find((known) => known.some((member) => !areApart(member, network)));
    if (group === undefined) groups.push([network]);
    else group.push(network);
  }
  return groups;
}
