/** libcni's cache of results: one file for each attachment. */

import type { Context } from "../../../cli/command/command.ts";
import { cacheOption, DEFAULT_CACHE_DIR } from "../../../cli/command/common-options.ts";
import { containerOf, interfaceOf } from "../../../store/reservations/owner.ts";
import { attempt, recover, SystemError } from "../../../system/system.ts";
import { requireDirectory } from "../../configured/configuration-directories.ts";
import type {
  CachedConfiguration,
  ConfigurationCache,
} from "../../configured/configuration-files.ts";
import type { NodeReservation } from "../../held/network-directory.ts";
import { once } from "../../once.ts";
import {
  attachmentIn,
  type CachedAttachment,
  configurationIn,
  podOfEntry,
} from "./cached-attachment.ts";

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

/** The largest entry, in bytes. */
const LARGEST_ENTRY = 4 * 1024 * 1024;

/** What libcni's cache knows. */
export interface Known {
  readonly attachments: readonly CachedAttachment[];
  /** Why it may know more; `undefined` where all was read. */
  readonly unreadable: SystemError | undefined;
}

const NOTHING: Known = { attachments: [], unreadable: undefined };

/**
 * What libcni's cache knows: the runtime's, and that of multus, which is libcni's for its delegates. The names of the entries are
 * listed once, before any is read, and each entry is read once. A missing directory counts as empty; invalid entries are ignored.
 */
export class ResultsCache implements ConfigurationCache {
  readonly #own: CacheDirectory;
  readonly #multus: CacheDirectory;

  constructor(context: Context) {
    const directory = cacheDirOf(context);
    this.#own = new CacheDirectory(context, `${directory}/results`);
    this.#multus = new CacheDirectory(context, `${directory}/multus/results`);
  }

  /** Lists the names of all entries: what is not among them is not looked for any more. */
  learnNames(): void {
    this.#own.entries();
    this.#multus.entries();
  }

  /**
   * Checks that the directories can be listed, or are missing.
   *
   * @throws SystemError
   */
  requireReadable(): void {
    this.learnNames();
    const error = this.#own.unlisted ?? this.#multus.unlisted;
    if (error !== undefined) throw error;
  }

  /** What is known of a reservation; several attachments for a legacy reservation, which names no interface. */
  knownOf(reservation: NodeReservation): Known {
    return joined(this.#own.knownOf(reservation), this.#multus.knownOf(reservation));
  }

  /**
   * What is known of all but some reservations, of which no entry is read.
   *
   * @param reservations gives these; it is asked where there is any entry
   */
  knownBut(reservations: () => Iterable<NodeReservation>): Known {
    const ofMultus = this.#multus.entries();
    const isEmpty = this.#own.entries().size + ofMultus.size === 0;
    const left = isEmpty ? [] : [...reservations()];
    // A network that the runtime called before multus was there is in both.
    const own = this.#own.knownBut(left, ofMultus.keys());
    return joined(own, this.#multus.knownBut(left, []));
  }

  /** `namespace/name` of the pod that holds a reservation; empty if it is not known. */
  podOf(reservation: NodeReservation): string {
    return this.knownOf(reservation).attachments.findLast(({ pod }) => pod !== "")?.pod ?? "";
  }

  configurationsBut(networks: ReadonlySet<string>): readonly CachedConfiguration[] {
    const own = this.#own.configurationsBut(networks);
    // A runtime of Kubernetes reads files alone: of such a network the file is gone.
    return [
      ...this.#multus.configurationsBut(networks),
      ...own.filter(({ pod }) => !pod.includes("/")),
    ];
  }
}

function joined(known: Known, other: Known): Known {
  if (known === NOTHING) return other;
  if (other === NOTHING) return known;
  return {
    attachments: [...known.attachments, ...other.attachments],
    unreadable: known.unreadable ?? other.unreadable,
  };
}

/** The name of an entry of a container of the CRI, of Nomad or Concourse: network, container id, interface. */
const ENTRY_NAME = /^(.+)-(?:[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[^-]+$/;

/** A directory of entries. */
class CacheDirectory {
  readonly #context: Context;
  readonly #directory: string;
  /** Why the names of the entries are not known. */
  unlisted: SystemError | undefined;
  #isLogged = false;

  constructor(context: Context, directory: string) {
    this.#context = context;
    this.#directory = directory;
  }

  /** What each entry says, read when it is asked for, by the names of all entries, in the order of the directory. */
  readonly entries = once((): ReadonlyMap<string, () => Known> => {
    const names = this.#read(() => this.#context.system.list(this.#directory)) ?? [];
    if (names instanceof SystemError) this.unlisted = names;
    const listed = names instanceof SystemError ? [] : names;
    return new Map(listed.map((name) => [name, once(() => this.#knownBy(name))]));
  });

  /** What is known of a reservation. */
  knownOf(reservation: NodeReservation): Known {
    const entries = this.entries();
    if (this.unlisted !== undefined) return { attachments: [], unreadable: this.unlisted };
    if (entries.size === 0) return NOTHING;
    const { network } = reservation.network.files;
    const containerId = containerOf(reservation.owner);
    let all = NOTHING;
    for (const name of this.#namesOf(reservation)) {
      const known = entries.get(name)?.() ?? NOTHING;
      const isOwn = known.attachments.every(
        (attachment) => attachment.network === network && attachment.containerId === containerId,
      );
      if (isOwn) all = joined(all, known);
    }
    return all;
  }

  /**
   * What is known of all but some reservations.
   *
   * @param others the names of further entries that are left out
   */
  knownBut(reservations: readonly NodeReservation[], others: Iterable<string>): Known {
    const left = new Set(others);
    for (const reservation of reservations)
      for (const name of this.#namesOf(reservation)) left.add(name);
    const attachments: CachedAttachment[] = [];
    let unreadable = this.unlisted;
    for (const [name, read] of this.entries()) {
      if (left.size > 0 && left.has(name)) continue;
      const known = read();
      attachments.push(...known.attachments);
      unreadable ??= known.unreadable;
    }
    return { attachments, unreadable };
  }

  /** The latest configuration of each network but these, with the pod that was attached by it. */
  configurationsBut(
    networks: ReadonlySet<string>,
  ): readonly (CachedConfiguration & Pick<CachedAttachment, "pod">)[] {
    const { system } = this.#context;
    const isOf = (name: string) => (network: string) => name.startsWith(`${network}-`);
    const byNetwork = Map.groupBy(
      this.entries().keys(),
      (name) => ENTRY_NAME.exec(name)?.[1] ?? [...networks].find(isOf(name)) ?? name,
    );
    return [...byNetwork].flatMap(([network, entries]) => {
      if (networks.has(network)) return [];
      const written = entries.map((name) => {
        const status = () => system.status(`${this.#directory}/${name}`).modified;
        return { name, modified: attempt(status, 0n) };
      });
      const [latest] = written.toSorted((a, b) => (a.modified < b.modified ? 1 : -1));
      const text = latest === undefined ? undefined : this.#textOf(latest.name);
      if (typeof text !== "string") return [];
      const document = configurationIn(text);
      if (document === undefined) return [];
      return [{ directory: this.#directory, document, pod: podOfEntry(text) }];
    });
  }

  /** The names of the entries that a reservation may have, as libcni makes them. */
  #namesOf({ network, owner }: NodeReservation): readonly string[] {
    const containerId = containerOf(owner);
    if (containerId === "") return [];
    const start = `${network.files.network}-${containerId}-`;
    if (owner.kind !== "legacy") return [`${start}${interfaceOf(owner)}`];
    return [...this.entries().keys()].filter((name) => name.startsWith(start));
  }

  #knownBy(name: string): Known {
    const text = this.#textOf(name);
    if (text instanceof SystemError) return { attachments: [], unreadable: text };
    const attachment = text === undefined ? undefined : attachmentIn(text);
    return attachment === undefined
      ? NOTHING
      : { attachments: [attachment], unreadable: undefined };
  }

  #textOf(name: string): string | SystemError | undefined {
    const path = `${this.#directory}/${name}`;
    return this.#read(() => this.#context.system.readFile(path, LARGEST_ENTRY));
  }

  /** What is read; `undefined` where it is missing. Any other error is logged, once. */
  #read<T>(read: () => T): T | SystemError | undefined {
    return recover(read, (error) => {
      if (ABSENT.includes(error.code)) return undefined;
      if (!this.#isLogged) this.#context.log(`pods are unknown: ${error.message}`);
      this.#isLogged = true;
      return error;
    });
  }
}
