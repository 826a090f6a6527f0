/** Findings on running pods: addresses that two of them use, and addresses that nothing reserves. */

import { compare, formatAddress, parseAddress } from "../../ipam/address.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import {
  type AddressInUse,
  type Misuse,
  misusesOf,
  type Use,
} from "../judgements/misused-addresses.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import {
  describeContainer,
  describeHolder,
  describePlace,
  podOrContainer,
  podOrHolder,
} from "./holder.ts";

type Kind<K> = Extract<Misuse, { readonly kind: K }>;

/** Compares the places that have an address with the reservations of all networks, for each address. */
export function attachmentFindings(node: Node): readonly Finding[] {
  return usedAddresses(node).flatMap((used) =>
    misusesOf(used, node.directories)
      .filter((misuse) => networksOf(misuse, used).some((network) => node.asked.includes(network)))
      .flatMap((misuse) => findingOn(node, used, misuse)),
  );
}

/** The addresses that are in use on the node, in their order. */
function usedAddresses(node: Node): readonly AddressInUse[] {
  const { directories, liveness } = node;
  const unreserved = directories.map(
    (directory) => [directory, new Set(node.unreservedIn(directory))] as const,
  );
  const used = [...liveness.places.addresses()].flatMap((text): readonly AddressInUse[] => {
    const address = parseAddress(text);
    if (address === undefined) return [];
    const places = liveness.places.with(text);
    const reservations = directories.flatMap((directory) => directory.heldAt(text));
    const unreservedIn = unreserved.flatMap(([directory, all]) => (all.has(text) ? directory : []));
    return [{ address, places, reservations, unreservedIn }];
  });
  return used.sort((a, b) => compare(a.address, b.address));
}

function networksOf(misuse: Misuse, { reservations }: AddressInUse): readonly NetworkDirectory[] {
  if (misuse.kind !== "twice") return [misuse.network];
  return [...reservations, ...misuse.uses].flatMap(({ network }) => network ?? []);
}

function findingOn(node: Node, used: AddressInUse, misuse: Misuse): Finding | readonly [] {
  const [network] = networksOf(misuse, used);
  if (network === undefined) return [];
  const { files } = network;
  const address = formatAddress(used.address);
  const about = { network: files.network, path: files.pathOf(address) };
  if (misuse.kind === "twice") {
    return {
      ...about,
      code: "address-in-use-twice",
      message: `${address} is in use more than once: ${describeUses(node, misuse)}`,
      remedy: remedyFor(node, misuse),
      commands: [{ files, words: ["show", address] }],
    };
  }
  const code = "live-without-reservation";
  if (misuse.kind === "foreign") {
    const places = misuse.places.map(describePlace).join("; ");
    const message = `${address} is in use, and not reserved, ${places}`;
    return { ...about, code, message, remedy: LOST };
  }
  const { attachment, held } = misuse;
  const uses = `${describeContainer(attachment)} uses ${address}`;
  if (held !== undefined) {
    const message = `${uses}, which is held by ${describeHolder(node, held)}`;
    const remedy = `restart ${podOrContainer(attachment)}, which then gets another address`;
    return { ...about, code, message, remedy };
  }
  const message = `${uses}, for which there is no reservation`;
  const commands = [{ owner: attachment, path: about.path }];
  return { ...about, code, message, commands };
}

/** The remedy where nothing but the kernel knows of an address. */
const LOST =
  "if the directory of the network was deleted or restored, the state was lost: drain the node, and restart the pods that stay on it. If another program gave the address, exclude it (ipam.exclude). Meanwhile ADD hands none of these out";

function describeUses(node: Node, { uses, unplaced }: Kind<"twice">): string {
  const holders = [...uses.flatMap(({ reservation }) => reservation ?? []), ...unplaced];
  const isOne = new Set(holders.map(({ network }) => network)).size <= 1;
  const holding = ({ network }: NodeReservation): string =>
    `holds the reservation${isOne ? "" : ` in ${network.files.network}`}`;
  return [
    ...uses.map(({ place, reservation }) => {
      const which = reservation === undefined ? "" : `, which ${holding(reservation)}`;
      return `${describePlace(place)}${which}`;
    }),
    ...unplaced.map(
      (reservation) => `${describeHolder(node, reservation)} ${holding(reservation)}`,
    ),
  ].join("; ");
}

/** Which pods are to be restarted, by name where one is known. */
function remedyFor(node: Node, { surplus, toRestart, unplaced }: Kind<"twice">): string {
  if (toRestart !== undefined) {
    const { files, sources } = toRestart.network;
    const why =
      sources.length === 0 ? "whose network is no longer configured" : "which got it last";
    return `restart ${podOrHolder(node, toRestart)}, ${why}, from ${files.network}: another network hands it out, too`;
  }
  const named = surplus.flatMap(({ place }) => place.container ?? []);
  const unknown = surplus.filter(({ place }) => place.container === undefined);
  const have = named.length === 1 ? "which has" : "which have";
  return [
    ...(named.length === 0
      ? []
      : [`restart ${named.map(podOrContainer).join(" and ")}, ${have} no reservation`]),
    ...unknown.map((use) => remedyForUnknown(node, use, unplaced)),
  ].join("; ");
}

function remedyForUnknown(
  node: Node,
  { place: { where, isEmpty } }: Use,
  unplaced: readonly NodeReservation[],
): string {
  const start = `restart the pod of ${where}, if a runtime of the node lists it`;
  if (unplaced.length > 0) {
    const holders = unplaced.map((reservation) => describeHolder(node, reservation)).join(" or ");
    return `${start}, unless it is ${holders}, which holds the reservation`;
  }
  if (!isEmpty) return start;
  return `${start}; otherwise remove that namespace, in which no process runs`;
}
