/** libcni's cache of results: one file for each attachment. */

import type { Context } from "../../../cli/command/command.ts";
import { cacheOption, DEFAULT_CACHE_DIR } from "../../../cli/command/common-options.ts";
import { containerOf, interfaceOf } from "../../../store/reservations/owner.ts";
import { attempt, isSystemError, type SystemError } from "../../../system/system.ts";
import { requireDirectory } from "../../configured/configuration-directories.ts";
import type {
  CachedConfiguration,
  ConfigurationCache,
} from "../../configured/configuration-files.ts";
import type { NodeReservation } from "../../held/network-directory.ts";
import { attachmentIn, type CachedAttachment, configurationIn } from "./cached-attachment.ts";

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
   * @param reservations gives these; it is asked where there is any entry
   */
  attachmentsBut(reservations: () => Iterable<NodeReservation>): readonly CachedAttachment[] {
    if (this.learnNames() === 0) return [];
    const left = [...reservations()];
    const ofMultus = this.#multus.attachmentsBut(left);
    const own = this.#own.attachmentsBut(left);
    if (ofMultus.length === 0) return own;
    // A network that the runtime called before multus was there is in both.
    const known = new Set(ofMultus.map(keyOfAttachment));
    return [...own.filter((one) => !known.has(keyOfAttachment(one))), ...ofMultus];
  }

  /** Lists the names of all entries, and counts them: what is not among them is not looked for any more. */
  learnNames(): number {
    return this.#directories.reduce((count, one) => count + one.learnNames(), 0);
  }

  /** What is known of a reservation; several attachments for a legacy reservation, which names no interface. */
  attachmentsOf(reservation: NodeReservation): readonly CachedAttachment[] {
    const own = this.#own.attachmentsOf(reservation);
    if (this.#multus.learnNames() === 0) return own;
    return [...own, ...this.#multus.attachmentsOf(reservation)];
  }

  /** The attachments of a reservation that the runtime itself has made, not multus. */
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

  configurationsBut(networks: ReadonlySet<string>): readonly CachedConfiguration[] {
    const own = this.#own.configurationsBut(networks);
    // A runtime of Kubernetes reads files alone: of such a network the file is gone.
    return [
      ...this.#multus.configurationsBut(networks),
      ...own.filter(({ pod }) => !pod.includes("/")),
    ];
  }

  get #directories(): readonly CacheDirectory[] {
    return [this.#own, this.#multus];
  }
}

function keyOfAttachment({ network, containerId, interfaceName }: CachedAttachment): string {
  return `${network} ${containerId} ${interfaceName}`;
}

/** The name of an entry of a container of the CRI, of Nomad or Concourse: network, container id, interface. */
const ENTRY_NAME = /^(.+)-(?:[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[^-]+$/;

/** A directory of entries. */
class CacheDirectory {
  readonly #context: Context;
  readonly #directory: string;
  #names: readonly string[] | undefined;
  /** Whether what is not among the names is not looked for. */
  #isLearned: boolean;
  #known: ReadonlySet<string> | undefined;
  #byStart: ReadonlyMap<string, readonly string[]> | undefined;
  /** The entries by the names of their files; `null` for one that is missing or invalid. */
  readonly #entries = new Map<string, CachedAttachment | null>();
  /** Why the directory or, by the names of their files, entries cannot be read. */
  readonly #unreadable = new Map<string, SystemError>();

  /** @param isListedFirst whether it is listed before an entry is looked for: on most nodes it is missing */
  constructor(context: Context, directory: string, isListedFirst: boolean) {
    this.#context = context;
    this.#directory = directory;
    this.#isLearned = isListedFirst;
  }

  /** Lists the names of all entries, and counts them: what is not among them is not looked for any more. */
  learnNames(): number {
    this.#isLearned = true;
    return this.#listed.length;
  }

  #isKnown(name: string): boolean {
    this.#known ??= new Set(this.#listed);
    return this.#known.has(name);
  }

  /** All attachments but those of some reservations, of which no file is read. */
  attachmentsBut(reservations: readonly NodeReservation[]): readonly CachedAttachment[] {
    const names = this.#listed;
    if (names.length === 0) return [];
    const left = new Set<string>();
    for (const one of reservations) for (const name of this.#namesOf(one)) left.add(name);
    return names.flatMap((name) => (left.has(name) ? [] : (this.#entry(name) ?? [])));
  }

  /** The latest configuration of each network but these, with the pod that was attached by it. */
  configurationsBut(
    networks: ReadonlySet<string>,
  ): readonly (CachedConfiguration & Pick<CachedAttachment, "pod">)[] {
    const { system } = this.#context;
    const isOf = (name: string) => (network: string) => name.startsWith(`${network}-`);
    const byNetwork = Map.groupBy(
      this.#listed,
      (name) => ENTRY_NAME.exec(name)?.[1] ?? [...networks].find(isOf(name)) ?? name,
    );
    return [...byNetwork].flatMap(([network, entries]) => {
      if (networks.has(network)) return [];
      const written = entries.map((name) => {
        const status = () => system.status(`${this.#directory}/${name}`).modified;
        return { name, modified: attempt(status, 0n) };
      });
      const [latest] = written.toSorted((a, b) => (a.modified < b.modified ? 1 : -1));
      const text = latest === undefined ? "" : this.#textOf(latest.name);
      const document = configurationIn(text);
      if (document === undefined) return [];
      return [{ directory: this.#directory, document, pod: attachmentIn(text)?.pod ?? "" }];
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
    if (known !== undefined) return known ?? undefined;
    const isMissing = this.#isLearned && !this.#isKnown(name) && !this.#unreadable.has(DIRECTORY);
    if (isMissing) return undefined;
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
