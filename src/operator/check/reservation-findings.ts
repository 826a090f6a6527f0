/** Findings on reservations. */

import type { Context } from "../../cli/command/command.ts";
import { plural } from "../../cli/output/plural.ts";
import { isWithin } from "../../ipam/address.ts";
import { formatReservedFor, isExcluded, reservedAt } from "../../ipam/exclusions.ts";
import { isGateway } from "../../ipam/range.ts";
import { formatRangeSet, rangeOf } from "../../ipam/range-set.ts";
import type { Liveness } from "../../store/life/conclusion.ts";
import { isAhead } from "../../store/reservations/age.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Code, Finding } from "./finding.ts";
import { namedPods } from "./pods-in-subnet.ts";
import type { RemedyCommand } from "./remedy-command.ts";

/** The findings of all reservations on which there is none: one list, since there may be 65 000. */
const NOTHING: readonly Finding[] = [];

/** Checks every reservation of a network. */
export function reservationFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const { context } = node;
  const { reservations } = directory;
  const findings: Finding[] = [];
  const livingOutside: NodeReservation[] = [];
  for (const reservation of reservations) {
    for (const own of [
      contentFindings(node, reservation),
      placeFindings(node, directory, reservation, livingOutside),
      permissionFindings(reservation),
    ]) {
      if (own.length > 0) findings.push(...own);
    }
  }
  return [
    ...findings,
    ...livingOutsideFindings(node, directory, livingOutside),
    ...duplicateFindings(directory),
    ...datedAheadFindings(context, directory),
    ...directory.misnamed.map(misnamedFinding(directory)),
  ];
}

/** A file that no plugin takes for a reservation, although somebody meant one. */
function misnamedFinding(network: NetworkDirectory): (name: string) => Finding {
  const { files } = network;
  return (name) => ({
    code: "malformed-reservation",
    network: files.network,
    path: files.pathOf(name),
    file: { network, name },
    message: `${name} is no address, so ADD hands out the one that it means`,
    remedy: "give the file the address as its name, without zeros in front, or remove it",
    commands: [],
  });
}

/** The clock was ahead when the files were made, and has been set back. */
function datedAheadFindings(
  { system }: Context,
  { files, reservations }: NetworkDirectory,
): readonly Finding[] {
  const now = system.now();
  const ahead = reservations.filter(({ since = 0 }) => isAhead(since, now));
  const [first] = ahead;
  if (first?.since === undefined) return NOTHING;
  const message = `${plural(ahead.length, "file")} dated ahead of the clock, such as ${first.text}: ${new Date(first.since).toISOString()}`;
  return [{ code: "dated-ahead", network: files.network, path: files.directory, message }];
}

/** An attachment has one address of each range set. */
function duplicateFindings({
  files,
  rangeSets,
  reservations,
}: NetworkDirectory): readonly Finding[] {
  return rangeSets.flatMap((set) => {
    const first = new Map<string, NodeReservation>();
    return reservations.flatMap((reservation): readonly Finding[] => {
      const { owner } = reservation;
      if (owner.kind !== "attachment") return NOTHING;
      const isOfSet =
        rangeSets.length === 1
          ? reservation.range !== undefined
          : rangeOf(set, reservation.address) !== undefined;
      if (!isOfSet) return NOTHING;
      const key = `${owner.containerId} ${owner.interfaceName}`;
      const other = first.get(key);
      first.set(key, other ?? reservation);
      if (other === undefined) return NOTHING;
      const message = `${key} holds ${other.text} and ${reservation.text} of one range set`;
      const words = ["show", owner.containerId, "--network", files.network] as const;
      const commands = [{ files, words }];
      return [{ ...found(reservation, "duplicate-owner", message), commands }];
    });
  });
}

function contentFindings(node: Node, reservation: NodeReservation): readonly Finding[] {
  const { owner, name } = reservation;
  if (owner.kind === "unknown") {
    return [found(reservation, "unreadable-reservation", owner.reason)];
  }
  const { text } = reservation;
  if (name !== text) {
    const { network, path } = reservation;
    const message = `ADD looks for ${text} instead, so it may hand the address out again`;
    const remedy =
      "give the file that name, which fails if the address was handed out again; then restart one of the two pods";
    // Unlike mv, ln does not replace the reservation of another pod.
    const commands = [
      {
        run: [
          ["ln", path, network.files.pathOf(text)],
          ["rm", path],
        ],
      },
    ];
    return [{ ...found(reservation, "malformed-reservation", message), remedy, commands }];
  }
  return owner.kind === "unowned" ? unownedFindings(node, reservation) : NOTHING;
}

/** A file that has been empty only for a moment is not reported: the Go plugin creates a file before it writes it. */
function unownedFindings(node: Node, reservation: NodeReservation): readonly Finding[] {
  const { context } = node;
  if (reservation.status?.kind !== "file") {
    return [found(reservation, "malformed-reservation", "not a regular file")];
  }
  if (!reservation.isEmpty) {
    return [found(reservation, "malformed-reservation", "the file names no container")];
  }
  if (!reservation.isRemovable(context.system.now())) return [];
  const message = "the file is empty, so no DEL can release it";
  const finding = found(reservation, "empty-reservation", message);
  const user = userOf(node, reservation);
  if (user === "nobody") {
    const { files } = reservation.network;
    const words = ["check", files.network, "--repair"] as const;
    return [{ ...finding, commands: [{ files, words }], repairable: reservation }];
  }
  if (user === "unknown") {
    const text = `${message}; whether a living container has the address is not known, so it is not repaired`;
    const unknown = { ...finding, message: text };
    return node.cache.unreadable === undefined
      ? [{ ...unknown, commands: [releaseCommand(reservation)] }]
      : [{ ...unknown, remedy: "make libcni's cache readable first" }];
  }
  const used = { ...finding, severity: "error" } as const;
  if (user === "a process") {
    const text = `${message}; a process has the address, and its container is not known`;
    const remedy = "restart the pod that has the address, then run check again";
    return [{ ...used, message: text, remedy }];
  }
  const text = `${message}; ${user.pod || `container ${user.containerId}`} uses the address`;
  const remedy = "write its container back into it: until then ADD may hand the address out again";
  const commands = [{ owner: user, path: reservation.path, where: "empty" }] as const;
  return [{ ...used, message: text, remedy, commands }];
}

/** Who uses an address: a container that lives, a process of which no more is known, or nobody, as far as that is known. */
type AddressUser = CachedAttachment | "a process" | "nobody" | "unknown";

/** Who uses the address of a reservation in its network, whoever holds it. */
function userOf({ cache, liveness }: Node, reservation: NodeReservation): AddressUser {
  const address = reservation.text;
  const { network } = reservation.network.files;
  const attachments = cache.attachments.filter(
    (one) => one.network === network && one.addresses.includes(address),
  );
  const livenessIn = (one: CachedAttachment): Liveness =>
    liveness.livenessOfAttachment(one).liveness;
  const attachment = attachments.find((one) => livenessIn(one) === "alive");
  if (attachment !== undefined) return attachment;
  if (liveness.livenessOf(reservation).liveness === "alive") return "a process";
  const isKnown =
    cache.unreadable === undefined && attachments.every((one) => livenessIn(one) !== "unknown");
  return isKnown ? "nobody" : "unknown";
}

/** All pods of a former range are one finding: there is nothing to release while they live. */
function livingOutsideFindings(
  { cache }: Node,
  { files, ranges }: NetworkDirectory,
  reservations: readonly NodeReservation[],
): readonly Finding[] {
  if (reservations.length === 0) return NOTHING;
  const holders = new Set(
    reservations.map((one) => `${cache.podOf(one) || holderIn(one)} (${one.text})`),
  );
  const [verb, which] = holders.size === 1 ? ["has", "an address"] : ["have", "addresses"];
  const message = `${plural(holders.size, "running pod")} ${verb} ${which} outside all ranges (${formatRangeSet(ranges)}): ${namedPods([...holders])}`;
  const [it, get] = holders.size === 1 ? ["it", "it gets"] : ["them", "they get"];
  return [
    {
      code: "out-of-range",
      network: files.network,
      path: files.directory,
      message,
      remedy: `restart ${it} where capacity shows that addresses are free: ${get} one of a range. Until then nothing is wrong, as long as no other network or node has the former range`,
      commands: [
        { files, words: ["capacity", files.network] },
        { files, words: ["list", files.network] },
      ],
    },
  ];
}

function holderIn({ owner }: NodeReservation): string {
  return containerOf(owner) || "no container";
}

/** Whether a pod that runs has an address, and not the node itself. */
function isRunning({ liveness }: Node, reservation: NodeReservation): boolean {
  return (
    liveness.livenessOf(reservation).liveness === "alive" &&
    !liveness.whose.nodeAddresses().has(reservation.text)
  );
}

function placeFindings(
  node: Node,
  directory: NetworkDirectory,
  reservation: NodeReservation,
  livingOutside: NodeReservation[],
): readonly Finding[] {
  const place = placeOf(node, directory, reservation);
  if (place === undefined) return NOTHING;
  const [code, text] = place;
  if (code === "out-of-range" && isRunning(node, reservation)) {
    livingOutside.push(reservation);
    return NOTHING;
  }
  const message = `${reservation.text} is ${text}${holderOf(reservation)}`;
  const commands = [releaseCommand(reservation)];
  return [{ ...found(reservation, code, message), commands }];
}

/** Why ADD would not hand the address of a reservation out to its holder; `undefined` where it would, or may. */
function placeOf(
  node: Node,
  directory: NetworkDirectory,
  reservation: NodeReservation,
): readonly [code: Code, place: string] | undefined {
  const { ranges, hasKnownRanges } = directory;
  const { address } = reservation;
  for (const range of ranges) {
    if (isGateway(address, range)) return ["excluded-address", "the gateway"];
  }
  const exclusion = exclusionOf(node, directory, reservation);
  if (exclusion !== undefined) return ["excluded-address", exclusion];
  if (!hasKnownRanges || reservation.range !== undefined) return undefined;
  return ranges.some(({ whole }) => whole !== undefined && isWithin(address, whole))
    ? ["outside-part", "outside of this node's part: another node may hand it out"]
    : ["out-of-range", "outside all ranges"];
}

function excludesNothing({ exclusions }: FoundNetwork): boolean {
  return exclusions.length === 0;
}

/** What excludes an address for its holder, if no configuration of the network has it for that holder. */
function exclusionOf(
  { cache }: Node,
  { networks }: NetworkDirectory,
  reservation: NodeReservation,
): string | undefined {
  if (networks.every(excludesNothing)) return undefined;
  const { address, owner } = reservation;
  if (networks.every(({ exclusions }) => !isExcluded(address, exclusions))) return undefined;
  const here = networks.filter(({ rangeSets }) => rangeOf(rangeSets.flat(), address) !== undefined);
  if (
    containerOf(owner) === "" ||
    here.some(({ exclusions }) => !isExcluded(address, exclusions))
  ) {
    return undefined;
  }
  const entries = here.map((network) => reservedAt(network, address));
  const pod = cache.podOf(reservation);
  // One whose pod is not known may be the one that is meant.
  if (entries.some((entry) => entry?.pod !== undefined && (pod === "" || pod === entry.pod))) {
    return undefined;
  }
  const [entry] = entries;
  return entry === undefined
    ? "excluded (ipam.exclude)"
    : `reserved for ${formatReservedFor(entry)} (ipam.reserved)`;
}

function permissionFindings(reservation: NodeReservation): readonly Finding[] {
  const { status, path } = reservation;
  if (status?.writableMode === undefined) return NOTHING;
  const mode = (status.writableMode & 0o777).toString(8).padStart(4, "0");
  const message = `group or others can write to it: mode ${mode}`;
  const commands = [{ run: [["chmod", "go-w", path]] }];
  return [{ ...found(reservation, "writable-by-others", message), commands }];
}

function holderOf({ owner }: NodeReservation): string {
  const container = containerOf(owner);
  return container === "" ? "" : `, held by ${`${container} ${interfaceOf(owner)}`.trim()}`;
}

function found(reservation: NodeReservation, code: Code, message: string): Finding {
  const { network, path } = reservation;
  return { code, network: network.files.network, path, file: reservation, message };
}

function releaseCommand({ network: { files }, text }: NodeReservation): RemedyCommand {
  return { files, words: ["release", text, "--network", files.network] };
}
