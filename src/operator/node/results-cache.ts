/** libcni's cache of results: one file for each attachment. */

import type { Context } from "../../cli/command/command.ts";
import { cacheOption, DEFAULT_CACHE_DIR } from "../../cli/command/common-options.ts";
import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import { type Json, parseJson } from "../../cni/json.ts";
import { formatAddress } from "../../ipam/address.ts";
import { type Prefix, parsePrefix } from "../../ipam/prefix.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import { attempt, isSystemError, type SystemError } from "../../system/system.ts";
import { textOfBase64 } from "./base64.ts";
import type { CachedConfiguration, ConfigurationCache } from "./configuration-files.ts";
import { requireDirectory } from "./configurations.ts";
import type { NodeReservation } from "./network-directory.ts";

/** An attachment in libcni's cache; strings are empty if the cache does not have them. */
export interface CachedAttachment {
  readonly network: string;
  readonly containerId: string;
  readonly interfaceName: string;
  /** The path of the network namespace, recorded since libcni 1.3. */
  readonly networkNamespace: string;
  /** The addresses of the result, in their canonical form. */
  readonly addresses: readonly string[];
  /** The gateways of the result. */
  readonly gateways: readonly string[];
  /** `namespace/name` of the pod, if the runtime set it in `CNI_ARGS`. */
  readonly pod: string;
}

/**
 * The directory of libcni's cache, which contains `results`.
 *
 * @throws CommandError if the option names none
 */
function cacheDirOf({ system, option }: Context): string {
  const given = option(cacheOption.name);
  return given === undefined
    ? DEFAULT_CACHE_DIR
    : requireDirectory(system, cacheOption.name, given);
}

/** Errors that show that there is no such entry; libcni cannot make one of too long a name. */
const ABSENT = ["ENOENT", "ENAMETOOLONG"];

/** The name of the directory itself, among those of its entries. */
const DIRECTORY = ".";

/** The largest entry, in bytes. */
const LARGEST_ENTRY = 4 * 1024 * 1024;

/**
 * What libcni's cache knows: the runtime's, and that of multus, which is libcni's for its delegates. Each entry is read once.
 * A missing directory counts as empty; invalid entries are ignored. What cannot be read is not known either, and
 * `unreadableOf` tells where that matters.
 */
export class ResultsCache implements ConfigurationCache {
  readonly #own: CacheDirectory;
  readonly #multus: CacheDirectory;
  #attachments: readonly CachedAttachment[] | undefined;

  constructor(context: Context) {
    const directory = cacheDirOf(context);
    this.#own = new CacheDirectory(context, `${directory}/results`, false);
    this.#multus = new CacheDirectory(context, `${directory}/multus/results`, true);
  }

  /** All attachments. */
  get attachments(): readonly CachedAttachment[] {
    this.#attachments ??= this.attachmentsBut(() => []);
    return this.#attachments;
  }

  /**
   * All attachments but those of some reservations, of which no file is read.
   *
   * @param reservations gives these; it is asked once the names of all entries are known
   */
  attachmentsBut(reservations: () => Iterable<NodeReservation>): readonly CachedAttachment[] {
    const counts = this.#directories.map((one) => one.learnNames());
    if (counts.every((count) => count === 0)) return [];
    const left = [...reservations()];
    const ofMultus = this.#multus.attachmentsBut(left);
    const own = this.#own.attachmentsBut(left);
    if (ofMultus.length === 0) return own;
    // A network that the runtime called before multus was there is in both.
    const known = new Set(ofMultus.map(keyOfAttachment));
    return [...own.filter((one) => !known.has(keyOfAttachment(one))), ...ofMultus];
  }

  /** What is known of a reservation; several attachments for a legacy reservation, which names no interface. */
  attachmentsOf(reservation: NodeReservation): readonly CachedAttachment[] {
    const own = this.#own.attachmentsOf(reservation);
    if (this.#multus.learnNames() === 0) return own;
    return [...own, ...this.#multus.attachmentsOf(reservation)];
  }

  /** Those of them that the runtime itself has attached, not multus. */
  attachmentsByRuntime(reservation: NodeReservation): readonly CachedAttachment[] {
    return this.#own.attachmentsOf(reservation);
  }

  /** Why something of a reservation may be known that `attachmentsOf`, asked before, lacks; `undefined` where nothing is. */
  unreadableOf(reservation: NodeReservation): SystemError | undefined {
    return this.#own.unreadableOf(reservation) ?? this.#multus.unreadableOf(reservation);
  }

  /** Why anything may be known that `attachments`, read before, lacks; `undefined` where it lacks nothing. */
  get unreadable(): SystemError | undefined {
    return this.#own.unreadable ?? this.#multus.unreadable;
  }

  /**
   * Checks, before reservations are looked for, that the directories can be read or are missing.
   *
   * @throws SystemError
   */
  requireReadable(): void {
    for (const one of this.#directories) one.requireReadable();
  }

  /** `namespace/name` of the pod that holds a reservation; empty if it is not known. */
  podOf(reservation: NodeReservation): string {
    return this.attachmentsOf(reservation).findLast(({ pod }) => pod !== "")?.pod ?? "";
  }

  get multusConfigurations(): readonly CachedConfiguration[] {
    return this.#multus.configurations();
  }

  configurationsOf(network: string): readonly CachedConfiguration[] {
    return this.#own.configurations(`${network}-`);
  }

  get #directories(): readonly CacheDirectory[] {
    return [this.#own, this.#multus];
  }
}

function keyOfAttachment({ network, containerId, interfaceName }: CachedAttachment): string {
  return `${network} ${containerId} ${interfaceName}`;
}

/** The name of an entry of a container of the CRI: network, container id, interface. */
const ENTRY_NAME = /^(.+)-[0-9a-f]{64}-[^-]+$/;

/** A directory of entries. */
class CacheDirectory {
  readonly #context: Context;
  readonly #directory: string;
  /** Whether it is listed before an entry is looked for: on most nodes it is missing. */
  readonly #isListedFirst: boolean;
  #names: readonly string[] | undefined;
  /** The names, once all are asked for: what is not among them is not looked for. */
  #known: ReadonlySet<string> | undefined;
  #byStart: ReadonlyMap<string, readonly string[]> | undefined;
  /** By the names of their files; `null` for one that is missing or invalid. */
  readonly #entries = new Map<string, CachedAttachment | null>();
  /** Why the directory or, by the names of their files, entries cannot be read. */
  readonly #unreadable = new Map<string, SystemError>();

  constructor(context: Context, directory: string, isListedFirst: boolean) {
    this.#context = context;
    this.#directory = directory;
    this.#isListedFirst = isListedFirst;
  }

  /** Lists the names of all entries, and counts them: what is not among them is not looked for any more. */
  learnNames(): number {
    this.#known ??= new Set(this.#listed);
    return this.#known.size;
  }

  /** All attachments but those of some reservations, of which no file is read. */
  attachmentsBut(reservations: readonly NodeReservation[]): readonly CachedAttachment[] {
    const names = this.#listed;
    if (names.length === 0) return [];
    const left = new Set<string>();
    for (const one of reservations) for (const name of this.#namesOf(one)) left.add(name);
    return names.flatMap((name) => (left.has(name) ? [] : (this.#entry(name) ?? [])));
  }

  /** The latest configuration of each network whose entries have names that begin so. */
  configurations(start = ""): readonly CachedConfiguration[] {
    const { system } = this.#context;
    const names = this.#listed.filter((name) => name.startsWith(start));
    const byNetwork = Map.groupBy(names, (name) => ENTRY_NAME.exec(name)?.[1] ?? name);
    return [...byNetwork.values()].flatMap((entries) => {
      const written = entries.map((name) => {
        const status = () => system.status(`${this.#directory}/${name}`).modified;
        return { name, modified: attempt(status, 0n) };
      });
      const [latest] = written.toSorted((a, b) => (a.modified < b.modified ? 1 : -1));
      const text = latest === undefined ? "" : this.#textOf(latest.name);
      const document = configurationIn(text);
      const addresses = prefixesIn(exactMember(parsed(text), "result"));
      return document === undefined ? [] : [{ directory: this.#directory, document, addresses }];
    });
  }

  /** What is known of a reservation. */
  attachmentsOf(reservation: NodeReservation): readonly CachedAttachment[] {
    const { network } = reservation.network.files;
    const containerId = containerOf(reservation.owner);
    const found: CachedAttachment[] = [];
    for (const name of this.#namesOf(reservation)) {
      const one = this.#entry(name);
      if (one?.network === network && one.containerId === containerId) found.push(one);
    }
    return found;
  }

  unreadableOf(reservation: NodeReservation): SystemError | undefined {
    if (this.#unreadable.size === 0) return undefined;
    const names = this.#namesOf(reservation);
    const sources = reservation.owner.kind === "legacy" ? [DIRECTORY, ...names] : names;
    return sources.map((name) => this.#unreadable.get(name)).find((error) => error !== undefined);
  }

  get unreadable(): SystemError | undefined {
    const [error] = this.#unreadable.values();
    return error;
  }

  requireReadable(): void {
    const error = this.#unreadable.get(DIRECTORY);
    if (error !== undefined) throw error;
    this.#names ??= attempt(() => this.#context.system.list(this.#directory), [], "ENOENT");
  }

  /** The names of the entries that a reservation may have, as libcni makes them. */
  #namesOf({ network, owner }: NodeReservation): readonly string[] {
    const containerId = containerOf(owner);
    if (containerId === "") return [];
    const start = `${network.files.network}-${containerId}-`;
    return owner.kind === "legacy"
      ? (this.#namesByStart.get(start) ?? [])
      : [`${start}${interfaceOf(owner)}`];
  }

  /** The names of the entries by what they begin with, up to any of their hyphens. */
  get #namesByStart(): ReadonlyMap<string, readonly string[]> {
    if (this.#byStart !== undefined) return this.#byStart;
    const byStart = new Map<string, string[]>();
    for (const name of this.#listed) {
      for (let at = name.indexOf("-"); at >= 0; at = name.indexOf("-", at + 1)) {
        const start = name.slice(0, at + 1);
        const names = byStart.get(start);
        if (names === undefined) byStart.set(start, [name]);
        else names.push(name);
      }
    }
    this.#byStart = byStart;
    return byStart;
  }

  get #listed(): readonly string[] {
    const { system } = this.#context;
    this.#names ??= this.#readOr(DIRECTORY, () => system.list(this.#directory), []);
    return this.#names;
  }

  #entry(name: string): CachedAttachment | undefined {
    const known = this.#entries.get(name);
    if (this.#isListedFirst) this.learnNames();
    const isMissing = this.#known?.has(name) === false && !this.#unreadable.has(DIRECTORY);
    if (known !== undefined || isMissing) return known ?? undefined;
    const entry = attachmentIn(this.#textOf(name));
    this.#entries.set(name, entry ?? null);
    return entry;
  }

  #textOf(name: string): string {
    const path = `${this.#directory}/${name}`;
    return this.#readOr(name, () => this.#context.system.readFile(path, LARGEST_ENTRY), "");
  }

  /** What is missing is not known; that something else cannot be read is remembered, and logged once. */
  #readOr<T>(name: string, read: () => T, nothing: T): T {
    try {
      return read();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (ABSENT.includes(error.code)) return nothing;
      if (this.#unreadable.size === 0) this.#context.log(`pods are unknown: ${error.message}`);
      this.#unreadable.set(name, error);
      return nothing;
    }
  }
}

/** The configuration of an entry, which libcni writes in base64; `undefined` if it is invalid. */
function configurationIn(text: string): Json | undefined {
  try {
    return parseJson(textOfBase64(textOf(exactMember(parsed(text), "config"))));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof URIError) return undefined;
    throw error;
  }
}

/** What an entry says; `undefined` if it is invalid. */
function attachmentIn(text: string): CachedAttachment | undefined {
  const usual = usualEntry(text);
  if (usual !== undefined) return usual;
  const entry = parsed(text);
  const containerId = textOf(exactMember(entry, "containerId"));
  if (containerId === "") return undefined;
  return {
    network: textOf(exactMember(entry, "networkName")),
    containerId,
    interfaceName: textOf(exactMember(entry, "ifName")),
    networkNamespace: textOf(exactMember(entry, "netns")),
    addresses: addressesIn(exactMember(entry, "result")),
    gateways: gatewaysIn(exactMember(entry, "result")),
    pod: podIn(exactMember(entry, "cniArgs")),
  };
}

/**
 * An entry that begins as libcni writes it: `kind`, `containerId`, `config`, `ifName`, `networkName` and `netns`, in this
 * order; and ends with its result. `undefined` for any other.
 */
function usualEntry(text: string): CachedAttachment | undefined {
  if (!text.endsWith("}}")) return undefined;
  // Within a string, no quotation mark follows a comma: it is escaped.
  const parts = text.split('","', 6);
  const containerId = valueIn(parts[1], 'containerId":"');
  const interfaceName = valueIn(parts[3], 'ifName":"');
  const network = valueIn(parts[4], 'networkName":"');
  const netns = valueIn(parts[5], 'netns":"');
  const isUsual =
    interfaceName !== undefined && network !== undefined && netns !== undefined && containerId;
  return isUsual ? new UsualEntry(containerId, interfaceName, network, netns, text) : undefined;
}

/** The value of a member without an escape; `undefined` for any other. */
function valueIn(part: string | undefined, start: string): string | undefined {
  const isIt = part?.startsWith(start) === true && !part.includes("\\");
  return isIt ? part.slice(start.length) : undefined;
}

/** Its other members are parsed when they are asked for: of a namespace that is gone nothing else matters. */
class UsualEntry implements CachedAttachment {
  readonly network: string;
  readonly containerId: string;
  readonly interfaceName: string;
  readonly networkNamespace: string;
  readonly #text: string;
  #addresses: readonly string[] | undefined;
  #pod: string | undefined;

  constructor(
    containerId: string,
    interfaceName: string,
    network: string,
    networkNamespace: string,
    text: string,
  ) {
    this.containerId = containerId;
    this.interfaceName = interfaceName;
    this.network = network;
    this.networkNamespace = networkNamespace;
    this.#text = text;
  }

  get addresses(): readonly string[] {
    this.#addresses ??= addressesIn(this.#memberOf("result"));
    return this.#addresses;
  }

  get gateways(): readonly string[] {
    return gatewaysIn(this.#memberOf("result"));
  }

  get pod(): string {
    this.#pod ??= podIn(this.#memberOf("cniArgs"));
    return this.#pod;
  }

  /** Without what is before: `config` is the largest member. A network may be named `netns`, too. */
  #memberOf(name: string): unknown {
    return exactMember(parsed(`{${this.#text.slice(this.#text.indexOf('"netns":'))}`), name);
  }
}

/** A JSON text; `undefined` if it is invalid. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The addresses of a result, in their canonical form. */
function addressesIn(result: unknown): readonly string[] {
  return prefixesIn(result).map(({ address }) => formatAddress(address));
}

function prefixesIn(result: unknown): readonly Prefix[] {
  return valuesIn(result, "address", "ip").flatMap((text) => parsePrefix(text) ?? []);
}

function gatewaysIn(result: unknown): readonly string[] {
  return valuesIn(result, "gateway", "gateway").filter((text) => text !== "");
}

/**
 * What a result of any version has for its addresses: a list of them, or one of each family before 0.3.0.
 *
 * @param name of the member
 * @param oldName of the member before 0.3.0
 */
function valuesIn(result: unknown, name: string, oldName: string): readonly string[] {
  const entries = [
    ...listOf(exactMember(result, "ips")).map((entry) => exactMember(entry, name)),
    exactMember(exactMember(result, "ip4"), oldName),
    exactMember(exactMember(result, "ip6"), oldName),
  ];
  return entries.map(textOf);
}

/** The pod in `CNI_ARGS`, which libcni records as a list of pairs. */
function podIn(cniArgs: unknown): string {
  const argument = (key: string): string => {
    // multus repeats them: of several the last counts.
    const pair = listOf(cniArgs).findLast((one) => listOf(one)[0] === key);
    return textOf(listOf(pair)[1]);
  };
  const name = argument("K8S_POD_NAME");
  return name === "" ? "" : `${argument("K8S_POD_NAMESPACE")}/${name}`;
}
