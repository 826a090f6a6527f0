/** libcni's cache of results: one file for each attachment. */

import type { Context } from "../../../cli/command/command.ts";
import { cacheOption, DEFAULT_CACHE_DIR } from "../../../cli/command/common-options.ts";
import { containerOf, interfaceOf } from "../../../store/reservations/owner.ts";
import { attempt, LARGEST_FILE, recover, SystemError } from "../../../system/system.ts";
import { requireDirectory } from "../../configured/configuration-directories.ts";
import { type ConfigurationFile, fileWith } from "../../configured/configuration-files.ts";
import type { NodeReservation } from "../../held/network-directory.ts";
import { once, onceFor } from "../../once.ts";
import {
  attachmentIn,
  type CachedAttachment,
  configurationIn,
  isOfKubernetes,
} from "./cached-attachment.ts";

/** Errors that show that there is no such entry; libcni cannot make one of too long a name. */
const ABSENT = ["ENOENT", "ENAMETOOLONG"];

/** What libcni's cache knows. */
export interface Known {
  readonly attachments: readonly CachedAttachment[];
  /** Why it may know more; `undefined` where all was read. */
  readonly unreadable: SystemError | undefined;
}

const NOTHING: Known = { attachments: [], unreadable: undefined };

/** The name of an entry of a container of the CRI, of Nomad or Concourse: network, container id, interface. */
const ENTRY_NAME = /^(.+)-(?:[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[^-]+$/;

/**
 * What libcni's cache knows: the runtime's, and that of multus, which is libcni's for its delegates. The names of the entries are
 * listed once, before any is read, and each entry is read once. A missing directory counts as empty; invalid entries are ignored.
 */
export class ResultsCache {
  readonly #context: Context;
  readonly #own: string;
  readonly #multus: string;
  #isLogged = false;

  /** @throws CommandError if the option names no directory */
  constructor(context: Context) {
    const given = context.option(cacheOption.name);
    const directory =
      given === undefined
        ? DEFAULT_CACHE_DIR
        : requireDirectory(context.system, cacheOption.name, given);
    this.#context = context;
    this.#own = `${directory}/results`;
    this.#multus = `${directory}/multus/results`;
  }

  /** The paths of all entries by their names, and why there may be more. */
  readonly #listed = once(() => {
    const paths = new Map<string, readonly string[]>();
    let unlisted: SystemError | undefined;
    for (const directory of [this.#multus, this.#own]) {
      const names = this.#read(() => this.#context.system.list(directory)) ?? [];
      if (names instanceof SystemError) unlisted ??= names;
      else
        for (const name of names) {
          paths.set(name, [...(paths.get(name) ?? []), `${directory}/${name}`]);
        }
    }
    return { paths, unlisted };
  });

  /** Lists the names of all entries: what is not among them is not looked for any more. */
  learnNames(): void {
    this.#listed();
  }

  /**
   * Checks that the directories can be listed, or are missing.
   *
   * @throws SystemError
   */
  requireReadable(): void {
    const { unlisted } = this.#listed();
    if (unlisted !== undefined) throw unlisted;
  }

  /** What is known of a reservation; several attachments for a legacy reservation, which names no interface. */
  knownOf(reservation: NodeReservation): Known {
    const { paths, unlisted } = this.#listed();
    let all = unlisted === undefined ? NOTHING : { attachments: [], unreadable: unlisted };
    if (paths.size === 0) return all;
    const { network } = reservation.network.files;
    const containerId = containerOf(reservation.owner);
    for (const name of this.#namesOf(reservation)) {
      const known = this.#knownBy(name);
      const isOwn = known.attachments.every(
        (attachment) => attachment.network === network && attachment.containerId === containerId,
      );
      if (isOwn) all = joined(all, known);
    }
    return all;
  }

  /**
   * What is known of all but some reservations, of which no entry is read.
   *
   * @param reservations gives these; it is asked where there is any entry
   */
  knownBut(reservations: () => Iterable<NodeReservation>): Known {
    const { paths, unlisted } = this.#listed();
    const left = new Set<string>();
    for (const reservation of paths.size === 0 ? [] : reservations())
      for (const name of this.#namesOf(reservation)) left.add(name);
    const attachments: CachedAttachment[] = [];
    let unreadable = unlisted;
    for (const name of paths.keys()) {
      if (left.has(name)) continue;
      const known = this.#knownBy(name);
      // A network that the runtime called before multus was there is in both.
      attachments.push(...known.attachments.slice(0, 1));
      unreadable ??= known.unreadable;
    }
    return { attachments, unreadable };
  }

  /** `namespace/name` of the pod that holds a reservation; empty if it is not known. */
  podOf(reservation: NodeReservation): string {
    return this.knownOf(reservation).attachments.findLast(({ pod }) => pod !== "")?.pod ?? "";
  }

  /**
   * The latest configuration of each other network whose runtime may have it from elsewhere than a file: multus from the API
   * server, BuildKit, Nomad and Concourse from memory.
   */
  configurationsBut(networks: ReadonlySet<string>): readonly ConfigurationFile[] {
    const { system } = this.#context;
    const networkOf = (name: string): string =>
      ENTRY_NAME.exec(name)?.[1] ??
      [...networks].find((network) => name.startsWith(`${network}-`)) ??
      name;
    const { paths } = this.#listed();
    const modified = (path: string): bigint => attempt(() => system.status(path).modified, 0n);
    return [...Map.groupBy(paths.keys(), networkOf)].flatMap(([network, names]) => {
      if (networks.has(network)) return [];
      const written = names
        .flatMap((name) => paths.get(name) ?? [])
        .map((path) => ({ path, modified: modified(path) }));
      return [this.#multus, this.#own].flatMap((directory) => {
        const [latest] = written
          .filter(({ path }) => path.startsWith(`${directory}/`))
          .toSorted((a, b) => (a.modified < b.modified ? 1 : -1));
        const text = latest && this.#textOf(latest.path);
        if (typeof text !== "string") return [];
        // A runtime of Kubernetes reads only files, so the file of such a network is gone.
        if (directory === this.#own && isOfKubernetes(text)) return [];
        const document = configurationIn(text);
        if (document === undefined) return [];
        return [fileWith(document, { source: directory, directory, isNamespaced: false })];
      });
    });
  }

  /** The names of the entries that a reservation may have, as libcni makes them. */
  #namesOf({ network, owner }: NodeReservation): readonly string[] {
    const containerId = containerOf(owner);
    if (containerId === "") return [];
    const start = `${network.files.network}-${containerId}-`;
    if (owner.kind !== "legacy") return [`${start}${interfaceOf(owner)}`];
    return [...this.#listed().paths.keys()].filter((name) => name.startsWith(start));
  }

  /** What the entries of a name say: that of multus first, but one without a namespace, as of libcni before 1.3, last. */
  readonly #knownBy = onceFor((name: string): Known => {
    const texts = (this.#listed().paths.get(name) ?? []).map((path) => this.#textOf(path));
    const unreadable = texts.find((text) => text instanceof SystemError);
    const isOld = ({ networkNamespace }: CachedAttachment): number =>
      Number(networkNamespace === "");
    const attachments = texts
      .flatMap((text) => (typeof text === "string" && attachmentIn(text)) || [])
      .toSorted((a, b) => isOld(a) - isOld(b));
    return attachments.length === 0 && unreadable === undefined
      ? NOTHING
      : { attachments, unreadable };
  });

  #textOf(path: string): string | SystemError | undefined {
    return this.#read(() => this.#context.system.readFile(path, LARGEST_FILE));
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

function joined(known: Known, other: Known): Known {
  if (known === NOTHING) return other;
  if (other === NOTHING) return known;
  return {
    attachments: [...known.attachments, ...other.attachments],
    unreadable: known.unreadable ?? other.unreadable,
  };
}
