/** The directory of a network, and its reservations. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import {
  type Address,
  addressAt,
  compare,
  formatAddress,
  parseAddress,
} from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import {
  type OpenedStatus,
  openedIn,
  openedOther,
  othersIn,
  readAll,
} from "../../store/reservations/directory-scan.ts";
import { isUnowned, type Owner } from "../../store/reservations/owner.ts";
import {
  type HeldAddress,
  isBlank,
  LARGEST_RESERVATION,
  listReservations,
  type Reservation,
} from "../../store/reservations/reservation-file.ts";
import { isRemovable } from "../../store/reservations/usage.ts";
import { eachLine } from "../../system/lines.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import {
  type AddressFiles,
  attempt,
  isSystemError,
  type OpenedFile,
  SystemError,
} from "../../system/system.ts";
import type { FoundNetwork } from "../configured/found-network.ts";

const NO_NAMES: ReadonlySet<string> = new Set();

/** The errors of a path without a directory: nothing is reserved there, and the error of an ADD is a finding of its own. */
const NO_DIRECTORY = ["ENOENT", "ENOTDIR"] as const;

/** The directory of a network, with all configurations that use it. What is in it is read once, when it is asked for. */
export class NetworkDirectory {
  readonly files: NetworkFiles;
  /** The networks, one for each configuration; a single one without a source if nothing configures the network. */
  readonly networks: readonly [FoundNetwork, ...FoundNetwork[]];
  /** The files that configure the network. */
  readonly sources: readonly string[];
  /** The range sets of all configurations. */
  readonly rangeSets: readonly RangeSet[];
  /** The ranges of all configurations. */
  readonly ranges: readonly Range[];
  /** Whether all ranges are configured: the runtime and the main plugin supply none. */
  readonly hasKnownRanges: boolean;
  readonly #system: OperatorSystem;
  #listed: readonly HeldAddress[] | undefined;
  #reservations: readonly NodeReservation[] | undefined;
  #isShared: boolean | undefined;
  #unowned: readonly Reservation[] | undefined;
  #removable: ReadonlySet<string> | undefined;
  #byAddress: ReadonlyMap<string, readonly NodeReservation[]> | undefined;

  constructor(system: OperatorSystem, networks: readonly [FoundNetwork, ...FoundNetwork[]]) {
    this.#system = system;
    this.files = networks[0].files;
    this.networks = networks;
    this.sources = [...new Set(networks.flatMap(({ source }) => source ?? []))];
    this.rangeSets = networks.flatMap(({ rangeSets }) => rangeSets);
    this.ranges = this.rangeSets.flat();
    this.hasKnownRanges = networks.every(
      ({ rangeSets, acceptsRuntimeRanges }) => rangeSets.length > 0 && !acceptsRuntimeRanges,
    );
  }

  /**
   * The addresses with a reservation, sorted, IPv4 first; no file is read for it.
   *
   * @throws SystemError if the directory cannot be read
   */
  get listed(): readonly HeldAddress[] {
    this.#listed ??=
      this.#reservations ?? attempt(() => listReservations(this.files), [], ...NO_DIRECTORY);
    return this.#listed;
  }

  /**
   * The reservations, sorted by address, IPv4 first. Those that are released before they are read are left out.
   *
   * @throws SystemError if the directory cannot be read
   */
  get reservations(): readonly NodeReservation[] {
    this.#reservations ??= this.#readAll();
    return this.#reservations;
  }

  /** Whether all reservations were read. */
  get isRead(): boolean {
    return this.#reservations !== undefined;
  }

  #readAll(): readonly NodeReservation[] {
    const nothing: AddressFiles = { usual: "", count: 0, others: [] };
    const { usual, others } = attempt(() => readAll(this.files, true), nothing, ...NO_DIRECTORY);
    const quads: NodeReservation[] = [];
    const further: NodeReservation[] = [];
    for (const line of eachLine(usual)) {
      const { name, owner, status, number } = openedIn(line);
      const reservation = new NodeReservation(this, name, owner, status, false, number);
      if (number !== "") quads.push(reservation);
      else if (parseAddress(name) !== undefined) further.push(reservation);
    }
    for (const { name, file } of others) {
      if (parseAddress(name) !== undefined) further.push(openedReservation(this, name, file));
    }
    return further.length === 0 ? quads : [...quads, ...further].sort(byAddress);
  }

  /**
   * The reservations whose files name no container, or cannot be read; no object is made of any other.
   *
   * @throws SystemError if the directory cannot be read
   */
  get unowned(): readonly Reservation[] {
    const read = (): readonly Reservation[] => othersIn(readAll(this.files));
    this.#unowned ??= (this.#reservations ?? attempt(read, [], ...NO_DIRECTORY)).filter(
      ({ owner }) => isUnowned(owner),
    );
    return this.#unowned;
  }

  /**
   * The reservations of an address, in its canonical form, including those made since the others were read. Files with other
   * names for the address are found only once all are read.
   */
  heldAt(address: string): readonly NodeReservation[] {
    this.#byAddress ??=
      this.#reservations && Map.groupBy(this.#reservations, (reservation) => reservation.text);
    const known = this.#byAddress?.get(address);
    if (known !== undefined) return known;
    const found = this.read(address);
    return found === undefined ? [] : [found];
  }

  /** Whether other machines may reserve there, too, as far as the file system shows it. */
  get isShared(): boolean {
    this.#isShared ??= !this.#system.isLocal(this.files.directory);
    return this.#isShared;
  }

  /**
   * A reservation as it is now; `undefined` where it has been released.
   *
   * @param name of its file, an address
   */
  read(name: string): NodeReservation | undefined {
    const opened = openUnlessReleased(this.#system, this.files.pathOf(name));
    return opened && openedReservation(this, name, opened);
  }

  /** The names of the empty files that an ADD removes where no other address is free. */
  get removable(): ReadonlySet<string> {
    const isFree = ({ name }: Pick<Reservation, "name">): boolean =>
      isRemovable(this.#system, this.files.pathOf(name));
    this.#removable ??= new Set(this.unowned.filter(isFree).map(({ name }) => name));
    return this.#removable;
  }

  /**
   * The reservations that count as used in a network: without those whose addresses an ADD takes where no other is free.
   *
   * @param reclaimable the names of those of dead pods, and from before this boot; `undefined` where that is not known
   */
  usedIn(
    { reclaims }: FoundNetwork,
    reclaimable: ReadonlySet<string> | undefined,
  ): readonly HeldAddress[] {
    const { removable } = this;
    const ofDead = (reclaims && reclaimable) || NO_NAMES;
    if (removable.size + ofDead.size === 0) return this.listed;
    return this.listed.filter(({ name }) => !removable.has(name) && !ofDead.has(name));
  }
}

/** A reservation on this node, as it was when its file was opened. Its values are made when asked for: there may be 65 000. */
export class NodeReservation {
  readonly network: NetworkDirectory;
  /** The name of its file. */
  readonly name: string;
  readonly owner: Owner;
  /** `undefined` where this user may not see it. */
  readonly status: OpenedStatus | undefined;
  /** Whether its file is empty, as a full disk or a power loss may leave it. */
  readonly isEmpty: boolean;
  #address: Address | string;
  #text: string | undefined;

  /** @param number of its address where it is an IPv4 one, in decimal; empty where that is to be read from the name */
  constructor(
    network: NetworkDirectory,
    name: string,
    owner: Owner,
    status: OpenedStatus | undefined,
    isEmpty: boolean,
    number = "",
  ) {
    this.network = network;
    this.name = name;
    this.owner = owner;
    this.status = status;
    this.isEmpty = isEmpty;
    this.#address = number;
  }

  /** The address by which its file is named. */
  get address(): Address {
    const known = this.#address;
    if (typeof known === "object") return known;
    // Parsing the name would take ten times as long as using the number.
    const address = known === "" ? addressIn(this.name) : addressAt(4, BigInt(known));
    this.#address = address;
    return address;
  }

  /** When its file was written, in milliseconds since the epoch; `undefined` if that cannot be read. */
  get since(): number | undefined {
    const { id } = this.status ?? {};
    // The last six digits are cut off first: a number of so many digits takes long to read.
    return id === undefined ? undefined : Number(id.slice(id.indexOf(",") + 1, -6));
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
}

/** What the name of a reservation says. */
function addressIn(name: string): Address {
  const address = parseAddress(name);
  if (address === undefined) throw new Error(`${name} is no address`);
  return address;
}

/**
 * A reservation whose file was opened.
 *
 * @param name of the file, an address
 */
export function openedReservation(
  network: NetworkDirectory,
  name: string,
  opened: OpenedFile | SystemError,
): NodeReservation {
  const { owner, status } = openedOther({ name, file: opened });
  const content = opened instanceof SystemError ? opened : opened.content;
  const isEmpty = owner.kind === "unowned" && typeof content === "string" && isBlank(content);
  return new NodeReservation(network, name, owner, status, isEmpty);
}

function byAddress(a: NodeReservation, b: NodeReservation): number {
  return compare(a.address, b.address) || (a.name < b.name ? -1 : 1);
}

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

/**
 * Logs that reservations cannot be read.
 *
 * @param consequence after a semicolon
 */
export function logUnreadable(
  { log }: Context,
  reservations: readonly Pick<Reservation, "owner">[],
  consequence = "",
): void {
  const reasons = reservations.flatMap(({ owner }) =>
    owner.kind === "unknown" ? [owner.reason] : [],
  );
  const [first] = reasons;
  if (first === undefined) return;
  const others = reasons.length > 1 ? `, and ${reasons.length - 1} more` : "";
  log(`cannot read all reservations: ${first}${others}${consequence}`);
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
