/** Findings on running pods: addresses that two of them use, and addresses that nothing reserves. */

import { type Address, compare, parseAddress } from "../../ipam/address.ts";
import { rangeOf } from "../../ipam/range-set.ts";
import type { Namespace } from "../../store/namespaces/addresses-in-use.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { exists } from "../../system/system.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import { type Finding, RESERVATIONS_LOST } from "./finding.ts";
import { describeContainer, describeHolder } from "./holder.ts";
import { areApart } from "./overlap-findings.ts";

/** An address that a container of libcni's cache has, and that may be in use. */
interface Use {
  readonly attachment: CachedAttachment;
  readonly address: string;
  readonly parsed: Address;
  readonly directory: NetworkDirectory;
  /** The reservation of the address, this container's if it has one, otherwise that of another. */
  readonly reservation: NodeReservation | undefined;
  /** Whether that is this container's. */
  readonly isHeld: boolean;
  /** The namespace that the cache names, if it exists, as the kernel names it; `undefined` if that is not known. */
  readonly namespace: string | undefined;
}

/** All uses of one address on one link, and the namespaces of processes in which it is configured. */
interface AddressUse {
  readonly uses: readonly Use[];
  readonly processNamespaces: ReadonlySet<string>;
}

/**
 * Compares the live attachments of libcni's cache with each other and with the reservations of all networks.
 *
 * @param isSelected only findings that concern a network for which this holds
 */
export function attachmentFindings(
  node: Node,
  isSelected: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const isConcerned = ({ directory }: Use): boolean => isSelected(directory);
  const found = usesByAddress(node)
    .filter(({ uses }) => uses.some(isConcerned))
    .flatMap((addressUse) => {
      const twice = inUseTwice(addressUse);
      const others = unreserved(addressUse)
        .filter(isConcerned)
        .map((use) => unreservedFinding(node, use));
      // Of a pod whose address another one holds, that finding says all.
      const isTold = ({ path, commands }: Finding): boolean =>
        commands === undefined && twice.some((one) => one.path === path);
      return [...twice, ...others.filter((one) => !isTold(one))];
    });
  const known = new Set(found.map(({ path }) => path));
  const byKernel = node.directories
    .filter(isSelected)
    .flatMap((one) => [...inSeveralNamespaces(node, one), ...unreservedFindings(node, one)]);
  return [...found, ...byKernel.filter(({ path }) => !known.has(path))];
}

/**
 * Addresses of a network that are configured in more network namespaces than there are reservations of them, by the kernel
 * alone: a runtime that was killed during an ADD, or has lost its state, leaves one of which nothing else tells.
 */
function inSeveralNamespaces(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const { directories, facts, liveness } = node;
  const { files } = directory;
  const linked = [...facts.linked()].filter(([, namespaces]) => namespaces.size > 1);
  const several = new Set([...facts.namespaces().inSeveral, ...linked].map(([address]) => address));
  return [...several].flatMap((address): readonly Finding[] => {
    // What nobody has reserved is a finding of its own, or none: gateways, and rootless containers, have the same.
    if (directory.ownersAt(address).length === 0) return [];
    const places = liveness.whose.ofContainersWith(address);
    // Networks whose ranges overlap may each have given it to one.
    const reservations = directories.flatMap((one) => one.ownersAt(address)).length;
    if (places.length <= Math.max(reservations, 1)) return [];
    const texts = places.map((place) => describePlace(node, address, place));
    return [
      {
        code: "address-in-use-twice",
        network: files.network,
        path: files.pathOf(address),
        message: `${address} is configured in ${places.length} network namespaces: ${texts.join("; ")}`,
        commands: [{ files, words: ["show", address] }],
      },
    ];
  });
}

/** Addresses that a network hands out, and that a container has without a reservation, by the kernel alone. */
function unreservedFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const { files } = directory;
  return node.unreservedIn(directory).map((address) => {
    const places = node.liveness.whose
      .ofContainersWith(address)
      .map((place) => describePlace(node, address, place));
    return {
      code: "live-without-reservation",
      network: files.network,
      path: files.pathOf(address),
      message: `${address} is in use, and not reserved, in the network namespace ${places.join("; ")}`,
      remedy: RESERVATIONS_LOST,
    };
  });
}

/**
 * The network namespace that has an address, and whose it is by libcni's cache. The kernel alone tells of what is only held by a
 * descriptor or a socket.
 */
function describePlace(node: Node, address: string, place: Namespace | number): string {
  if (typeof place === "number") {
    return `with the id ${place} (ip netns list-id), which no process or mount shows`;
  }
  const { processId, path, id } = place;
  const where = processId === undefined ? `${path}, without a process` : `of process ${processId}`;
  const attachment = node.cache.attachments.find(({ addresses, networkNamespace }) => {
    const state = node.facts.at(networkNamespace);
    return state.kind === "exists" && state.id === id && addresses.includes(address);
  });
  return attachment === undefined ? where : `of ${describeContainer(attachment)}, ${where}`;
}

function usesByAddress(node: Node): readonly AddressUse[] {
  const { cache, directories, facts, liveness: checker } = node;
  const namespacesWith = (address: string): ReadonlySet<string> =>
    new Set(
      checker.whose
        .ofContainersWith(address)
        .flatMap((place) => (typeof place === "number" ? `${place}` : (place.id ?? []))),
    );
  const attachments = cache.attachmentsBut(() => deadReservations(node));
  const byNetwork = Map.groupBy(directories, ({ files }): string => files.network);
  const { reservations } = node;
  // Only where an attachment asks for it: there may be tens of thousands.
  let reserved: ReadonlyMap<string, readonly NodeReservation[]> | undefined;
  const uses: Use[] = [];
  for (const attachment of attachments) {
    const known = byNetwork.get(attachment.network);
    if (known === undefined) continue;
    const { networkNamespace } = attachment;
    if (facts.at(networkNamespace).kind === "gone") continue;
    // Without addresses, only the namespace that the cache names shows it.
    const { liveness } = checker.livenessOfAttachment({ networkNamespace, addresses: [] });
    const state = liveness === "alive" ? facts.at(networkNamespace) : undefined;
    const namespace = state?.kind === "exists" ? state.id : undefined;
    for (const address of attachment.addresses) {
      const parsed = parseAddress(address);
      if (parsed === undefined) continue;
      reserved ??= Map.groupBy(
        reservations,
        ({ network, text }) => `${network.files.network} ${text}`,
      );
      const all = reserved.get(`${attachment.network} ${address}`) ?? [];
      const own = all.find(({ owner }) => containerOf(owner) === attachment.containerId);
      const directory = known.find((one) => own !== undefined || mayHandOut(one, parsed));
      if (directory === undefined) continue;
      // The process id of a container that ended may be that of a process in another pod by now.
      if (namespace !== undefined && networkNamespace.startsWith("/proc/")) {
        if (!namespacesWith(address).has(namespace)) continue;
      }
      const [reservation] = own === undefined ? all : [own];
      const isHeld = own !== undefined;
      uses.push({ attachment, address, parsed, directory, reservation, isHeld, namespace });
    }
  }
  uses.sort((a, b) => compare(a.parsed, b.parsed));
  return [...Map.groupBy(uses, ({ address }) => address)].flatMap(([address, ofAddress]) => {
    const byLink = groupedByLink(ofAddress);
    return byLink.map((group) => {
      const needsProcesses = group.some(({ namespace }) => namespace === undefined);
      const having = needsProcesses ? [...namespacesWith(address)] : [];
      const elsewhere = byLink.filter((other) => other !== group).flatMap(namespacesOf);
      const processNamespaces = new Set(having.filter((id) => !elsewhere.includes(id)));
      return { uses: group, processNamespaces };
    });
  });
}

/** The uses of an address in groups that never meet: networks on different links may have one subnet. */
function groupedByLink(uses: readonly Use[]): readonly (readonly Use[])[] {
  const groups: Use[][] = [];
  for (const use of uses) {
    const group = groups.find((known) =>
      known.some(({ directory }) => !areApart(directory, use.directory)),
    );
    if (group === undefined) groups.push([use]);
    else group.push(use);
  }
  return groups;
}

function namespacesOf(uses: readonly Use[]): readonly string[] {
  return uses.flatMap(({ namespace }) => namespace ?? []);
}

/** The reservations whose containers are dead: what the cache has of these is in use no more. */
function* deadReservations({ directories, liveness }: Node): Generator<NodeReservation, void> {
  for (const { reservations } of directories) {
    for (const { reservation, conclusion } of liveness.livenessOfAll(reservations)) {
      if (conclusion.liveness === "dead") yield reservation;
    }
  }
}

/** Two network namespaces have the address, and two containers account for it. */
function inUseTwice({ uses, processNamespaces }: AddressUse): readonly Finding[] {
  const namespaces = new Set([...namespacesOf(uses), ...processNamespaces]);
  const containers = new Map(uses.map((use) => [use.attachment.containerId, use]));
  const [use, other] = containers.values();
  if (namespaces.size < 2 || use === undefined || other === undefined) return [];
  const { address, directory } = use;
  const { files } = directory;
  const users = [...containers.values()].map(({ attachment }) => describeContainer(attachment));
  return [
    {
      code: "address-in-use-twice",
      network: files.network,
      path: files.pathOf(address),
      message: `${address} is used by ${users.join(" and ")}`,
      commands: [{ files, words: ["show", address] }],
    },
  ];
}

/** The live attachments that do not hold the reservation of their address. */
function unreserved({ uses, processNamespaces }: AddressUse): readonly Use[] {
  const accounted = new Set(namespacesOf(uses));
  const others = [...processNamespaces].filter((id) => !accounted.has(id)).length;
  const isHolderAccounted = uses.some(({ namespace, isHeld }) => namespace !== undefined && isHeld);
  return uses.filter((use) => {
    // An empty file is a finding of its own, with the command that writes its container back.
    if (use.isHeld || use.reservation?.isEmpty === true) return false;
    if (use.namespace !== undefined) return true;
    // One of them may be that of the container that holds the reservation.
    return others > (use.reservation === undefined || isHolderAccounted ? 0 : 1);
  });
}

function unreservedFinding(
  node: Node,
  { attachment, address, directory, reservation }: Use,
): Finding {
  const { files } = directory;
  const path = files.pathOf(address);
  const container = describeContainer(attachment);
  const { network } = files;
  const about = { code: "live-without-reservation", network, path } as const;
  if (reservation !== undefined) {
    const message = `${container} uses ${address}, which is held by ${describeHolder(node, reservation)}`;
    return { ...about, message, remedy: "restart this pod, which then gets another address" };
  }
  const made = exists(files.system, files.directory) ? undefined : files.directory;
  return {
    ...about,
    message: `${container} uses ${address}, for which there is no reservation`,
    commands: [{ owner: attachment, path, where: "missing", made }],
  };
}

/**
 * Whether a network hands out an address: an attachment may also have addresses of other IPAM plugins. A network that is
 * no longer configured may now use another one.
 */
function mayHandOut(
  { sources, hasKnownRanges, ranges }: NetworkDirectory,
  address: Address,
): boolean {
  if (sources.length === 0) return false;
  return !hasKnownRanges || rangeOf(ranges, address) !== undefined;
}
