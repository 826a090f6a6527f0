import { CommandError, type Context } from "../../cli/command/command.ts";
import { progress } from "../../cli/output/terminal.ts";
import { type Address, compare, formatAddress } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import { rangeOf } from "../../ipam/range-set.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { join } from "../../store/files/paths.ts";
import { namesBeforeBoot } from "../../store/journal/earlier-boots.ts";
import type { Owner } from "../../store/reservations/owner.ts";
import { listReservations, readOwner } from "../../store/reservations/reservation-file.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError, type System } from "../../system/system.ts";
import type { FoundNetwork } from "./networks.ts";

/** A reservation on this node, with its network and owner. */
export interface NodeReservation {
  readonly network: FoundNetwork;
  readonly address: Address;
  /** The name of its file. */
  readonly name: string;
  readonly path: string;
  readonly owner: Owner;
  /** When its file was written, in milliseconds since the epoch; `undefined` if that cannot be read. */
  readonly since: number | undefined;
  /** Whether it is known to be from before this boot. */
  readonly isBeforeBoot: boolean;
  /** The configured range that contains it. */
  readonly range: Range | undefined;
}

/**
 * Reads the reservations of a network, sorted by address, IPv4 first. Those that are released meanwhile are left out.
 *
 * @param isIncluded which addresses to read; all by default
 * @throws SystemError if the directory cannot be read
 */
export function readReservations(
  system: OperatorSystem,
  network: FoundNetwork,
  isIncluded: (address: Address) => boolean = () => true,
): readonly NodeReservation[] {
  const { location } = network;
  const listed = listReservations(location).filter(({ address }) => isIncluded(address));
  const earlier = namesBeforeBoot(location);
  const step = progress(system, `reading ${location.directory}`, listed.length);
  const reservations = listed.flatMap(({ address, name }, index) => {
    const path = join(location.directory, name);
    const content = readUnlessReleased(location, name);
    step(index + 1);
    if (content === undefined) return [];
    const range = network.rangeSets
      .map((set) => rangeOf(set, address))
      .find((found) => found !== undefined);
    return [{ network, address, name, path, ...content, isBeforeBoot: earlier.has(name), range }];
  });
  return reservations.sort(byAddress);
}

/** The owner of a reservation and the time of its file, both of the same file; `undefined` where it has been released. */
function readUnlessReleased(
  files: NetworkFiles,
  name: string,
): Pick<NodeReservation, "owner" | "since"> | undefined {
  const { system } = files;
  const path = files.pathOf(name);
  for (;;) {
    const modified = modifiedUnlessGone(system, path);
    if (modified === "gone") return undefined;
    const owner = readOwner(files, name);
    // A file that is released before it is read looks as if it named no container.
    if (owner.kind === "nobody" && modifiedUnlessGone(system, path) !== modified) continue;
    return { owner, since: modified === undefined ? undefined : Number(modified / MILLISECOND) };
  }
}

const MILLISECOND = 1_000_000n;

/** In nanoseconds since the epoch; `undefined` where it cannot be read. */
function modifiedUnlessGone(system: System, path: string): bigint | "gone" | undefined {
  try {
    return system.linkStatus(path).modified;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return "gone";
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** The container id of an owner; empty if the file names none. */
export function containerOf(owner: Owner): string {
  return owner.kind === "attachment" || owner.kind === "legacy" ? owner.containerId : "";
}

/** The interface of an owner; empty if the file names none. */
export function interfaceOf(owner: Owner): string {
  return owner.kind === "attachment" ? owner.interfaceName : "";
}

/** Logs that reservations cannot be read. */
export function logUnreadable({ log }: Context, reservations: readonly NodeReservation[]): void {
  const reasons = reservations.flatMap(({ owner }) =>
    owner.kind === "unknown" ? [owner.reason] : [],
  );
  const [first] = reasons;
  if (first === undefined) return;
  const others = reasons.length > 1 ? `, and ${reasons.length - 1} more` : "";
  log(`cannot read all reservations: ${first}${others}`);
}

/** The JSON form of a reservation. */
export function describeReservation(reservation: NodeReservation, pod: string): object {
  const { network, address, owner, since, range, path } = reservation;
  return {
    network: network.location.network,
    address: formatAddress(address),
    container: containerOf(owner),
    interface: interfaceOf(owner),
    pod,
    owner: owner.kind,
    since: since === undefined ? null : new Date(since).toISOString(),
    beforeBoot: reservation.isBeforeBoot,
    range:
      range === undefined
        ? null
        : { first: formatAddress(range.first), last: formatAddress(range.last) },
    path,
  };
}

/**
 * Checks that this user may read the reservations.
 *
 * @throws CommandError
 */
export function requireReadable(reservations: readonly NodeReservation[]): void {
  for (const { owner } of reservations) {
    if (owner.kind === "unknown" && owner.code === "EACCES") {
      throw new CommandError(`${owner.reason}; run as root`);
    }
  }
}

function byAddress(a: NodeReservation, b: NodeReservation): number {
  return compare(a.address, b.address) || (a.name < b.name ? -1 : 1);
}
