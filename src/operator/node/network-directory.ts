/** The directory of a network, and its reservations. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import { type Address, formatAddress, isSame, parseAddress } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { namesBeforeBoot } from "../../store/journal/before-boot.ts";
import { othersIn, readAll } from "../../store/reservations/directory-scan.ts";
import {
  isUnowned,
  type Owner,
  ownerOfUnreadable,
  parseOwner,
} from "../../store/reservations/owner.ts";
import {
  isBlank,
  LARGEST_RESERVATION,
  listReservations,
  type Reservation,
  type ReservedAddress,
} from "../../store/reservations/reservation-file.ts";
import { isSettled } from "../../store/reservations/usage.ts";
import { coolingAmong, readReuse } from "../../store/reuse/reuse-file.ts";
import type { OpenedFile, OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError, type Names, SystemError } from "../../system/system.ts";
import type { FoundNetwork } from "./configurations/found-network.ts";

/** The directory of a network, with all configurations that use it. What is in it is read once, when it is asked for. */
export class NetworkDirectory {
  readonly files: NetworkFiles;
  /** One for each configuration; a single one without a source if nothing configures the network. */
  readonly networks: readonly [FoundNetwork, ...FoundNetwork[]];
  /** The files that configure the network. */
  readonly sources: readonly string[];
  /** Those of all configurations. */
  readonly rangeSets: readonly RangeSet[];
  /** Those of all configurations. */
  readonly ranges: readonly Range[];
  /** Whether all ranges are configured: the runtime and the main plugin supply none. */
  readonly hasKnownRanges: boolean;
  readonly #system: OperatorSystem;
  #listed: readonly ReservedAddress[] | undefined;
  #reservations: readonly NodeReservation[] | undefined;
  #isShared: boolean | undefined;
  #namesBeforeBoot: ReadonlySet<string> | undefined;
  #byAddress: ReadonlyMap<string, readonly NodeReservation[]> | undefined;

  constructor(system: OperatorSystem, networks: readonly [FoundNetwork, ...FoundNetwork[]]) {
    this.#system = system;
    this.files = networks[0].files;
    this.networks = networks;
    this.sources = [...new Set(networks.flatMap(({ source }) => source ?? []))];
    this.rangeSets = networks.flatMap(({ rangeSets }) => rangeSets);
    this.ranges = this.rangeSets.flat();
    this.hasKnownRanges = networks.every(
      ({ rangeSets, acceptsRuntimeRanges, uncertainty }) =>
        rangeSets.length > 0 && !acceptsRuntimeRanges && uncertainty === undefined,
    );
  }

  /**
   * The addresses with a reservation, sorted, IPv4 first; no file is read.
   *
   * @throws SystemError if the directory cannot be read
   */
  get listed(): readonly ReservedAddress[] {
    this.#listed ??= listReservations(this.files);
    return this.#listed;
  }

  /**
   * The reservations, sorted by address, IPv4 first. Those that are released before they are read are left out.
   *
   * @throws SystemError if the directory cannot be read
   */
  get reservations(): readonly NodeReservation[] {
    this.#reservations ??= this.listed.flatMap((one) => this.read(one) ?? []);
    return this.#reservations;
  }

  /**
   * The reservations whose files name no container, or cannot be read; no object is made of any other.
   *
   * @throws SystemError if the directory cannot be read
   */
  get unowned(): readonly Reservation[] {
    const read = this.#reservations ?? othersIn(readAll(this.files));
    return read.filter(({ owner }) => isUnowned(owner));
  }

  /** The names of files that look like addresses, and are none. */
  get misnamed(): readonly string[] {
    const list = (): Names => this.#system.listAddresses(this.files.directory);
    const { others } = attempt(list, { quads: [], others: [] }, "ENOENT");
    return others.filter(
      (name) => LOOKS_LIKE_ADDRESS.test(name) && parseAddress(name) === undefined,
    );
  }

  /**
   * The reservations of one address: several if files have other names for it than the canonical one.
   *
   * @throws SystemError if the directory cannot be read
   */
  reservationsAt(address: Address): readonly NodeReservation[] {
    const nothing: Names = { quads: [], others: [] };
    const list = (): Names => this.#system.listAddresses(this.files.directory);
    const { quads, others } = attempt(list, nothing, "ENOENT");
    const isListed = address.family === 4 && quads.includes(Number(address.value));
    const names = others.filter((name) => {
      const other = parseAddress(name);
      return other !== undefined && isSame(other, address);
    });
    const found = isListed ? [formatAddress(address), ...names] : names;
    return found.sort().flatMap((name) => this.read({ address, name }) ?? []);
  }

  /**
   * The owners of an address, in its canonical form, also of what was reserved since the others were read; those whose
   * files have other names for it only once all are read.
   */
  ownersAt(address: string): readonly Owner[] {
    this.#byAddress ??= this.#reservations && Map.groupBy(this.#reservations, (one) => one.text);
    const known = this.#byAddress?.get(address);
    if (known !== undefined) return known.map(({ owner }) => owner);
    const parsed = parseAddress(address);
    const found = parsed && this.read({ address: parsed, name: address });
    return found === undefined ? [] : [found.owner];
  }

  /** Whether other machines may reserve there, too, as far as the file system shows it. */
  get isShared(): boolean {
    this.#isShared ??= !this.#system.isLocal(this.files.directory);
    return this.#isShared;
  }

  /** A reservation as it is now; `undefined` where it has been released. */
  read(reservation: ReservedAddress): NodeReservation | undefined {
    const opened = openUnlessReleased(this.#system, this.files.pathOf(reservation.name));
    return opened && new NodeReservation(this, reservation, opened);
  }

  /** The names of the reservations from before this boot. */
  get namesBeforeBoot(): ReadonlySet<string> {
    this.#namesBeforeBoot ??= namesBeforeBoot(this.files, () => this.reservations);
    return this.#namesBeforeBoot;
  }

  /** Whether a reservation is known to be from before this boot. */
  isBeforeBoot(reservation: NodeReservation): boolean {
    // Where only one was read, the others are not.
    const names =
      this.#reservations === undefined
        ? namesBeforeBoot(this.files, () => [reservation])
        : this.namesBeforeBoot;
    return names.has(reservation.name);
  }

  /** Those of them that count as used: without those from before this boot, unless they are to stay. */
  usedIn({ reclaims }: FoundNetwork): readonly ReservedAddress[] {
    if (!reclaims || this.namesBeforeBoot.size === 0) return this.listed;
    return this.listed.filter(({ name }) => !this.namesBeforeBoot.has(name));
  }

  /** The free addresses that were released lately, and are avoided by `reuseDelaySeconds`. */
  coolingIn({ files, reuseDelaySeconds }: FoundNetwork): readonly Address[] {
    if (reuseDelaySeconds === 0) return [];
    const cooling = new Set(coolingAmong(files, readReuse(files), reuseDelaySeconds).keys());
    for (const { name } of this.listed) cooling.delete(name);
    return [...cooling].flatMap((name) => parseAddress(name) ?? []);
  }
}

/** A reservation on this node, as it was when its file was opened. */
export class NodeReservation {
  readonly network: NetworkDirectory;
  readonly address: Address;
  /** The name of its file. */
  readonly name: string;
  readonly owner: Owner;
  /** Whether its file is empty, as a full disk or a power loss may leave it. */
  readonly isEmpty: boolean;
  /** `undefined` where this user may not see it. */
  readonly status: Omit<OpenedFile, "content"> | undefined;
  /** When its file was written, in milliseconds since the epoch; `undefined` if that cannot be read. */
  readonly since: number | undefined;
  #text: string | undefined;

  constructor(
    network: NetworkDirectory,
    { address, name }: ReservedAddress,
    opened: OpenedFile | SystemError,
  ) {
    const status = opened instanceof SystemError ? undefined : opened;
    const content = opened instanceof SystemError ? opened : opened.content;
    this.network = network;
    this.address = address;
    this.name = name;
    this.owner = typeof content === "string" ? parseOwner(content) : ownerOfUnreadable(content);
    this.isEmpty = this.owner.kind === "unowned" && typeof content === "string" && isBlank(content);
    this.status = status;
    this.since = status && Number(status.modified / MILLISECOND);
  }

  get path(): string {
    return this.network.files.pathOf(this.name);
  }

  /** The address in its canonical form. */
  get text(): string {
    // Four octets have one form only.
    this.#text ??= this.name.includes(":") ? formatAddress(this.address) : this.name;
    return this.#text;
  }

  /** The configured range that contains it. */
  get range(): Range | undefined {
    return rangeOf(this.network.ranges, this.address);
  }

  /** Whether it is known to be from before this boot. */
  get isBeforeBoot(): boolean {
    return this.network.isBeforeBoot(this);
  }

  /** Whether ADD may take the address: the file is empty, and not just being written. */
  isRemovable(now: number): boolean {
    return this.isEmpty && this.status !== undefined && isSettled(this.status, now);
  }
}

const LOOKS_LIKE_ADDRESS = /^[0-9]+(?:\.[0-9]+){3}$|^[0-9A-Fa-f]*:[0-9A-Fa-f:.]*$/;

const MILLISECOND = 1_000_000n;

/** `undefined` where it has been released. */
function openUnlessReleased(
  system: OperatorSystem,
  path: string,
): OpenedFile | SystemError | undefined {
  try {
    return system.openFile(path, LARGEST_RESERVATION);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.code === "ENOENT" ? undefined : error;
  }
}

/** Groups networks by their directories, in the order in which these first appear. */
export function networkDirectories(
  system: OperatorSystem,
  networks: readonly FoundNetwork[],
): readonly NetworkDirectory[] {
  const groups = Map.groupBy(networks, ({ files }) => files.directory);
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [new NetworkDirectory(system, [first, ...others])],
  );
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
