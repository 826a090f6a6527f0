/** Which of the configuration files of a node are in use, and by whom: by what was read of them alone. */

import type { ConfigurationFile } from "./configuration-files.ts";
import { describeReaders, type Runtime } from "./runtime.ts";

/**
 * Who uses a file. containerd and CRI-O use only the first of their directory (containerd by default, `max_conf_num = 1`); multus, podman, nerdctl and cnitool use any, by
 * the name of its network, and a list before a plugin alone.
 */
export interface FileUse {
  /**
   * Who uses the file. `used`: every runtime that reads its directory. `byName`: those that ask for its network by name.
   * `unread`: nobody, since no runtime reads its directory. `behind`: nobody, since another file of its network comes first.
   * `refused`: nobody, since no runtime can. `cached`: it is no file; whoever attached a pod to the network had its
   * configuration from elsewhere.
   */
  readonly kind: "used" | "byName" | "unread" | "behind" | "refused" | "cached";
  readonly file: ConfigurationFile;
  /**
   * The file that is used in its place: one of its network, or the one that the runtimes of Kubernetes use, unless that calls
   * this one, as multus does.
   */
  readonly other?: ConfigurationFile | undefined;
  /** Why it is not used by all, as a clause; `undefined` where it is, or nothing is in its place, or it is refused. */
  readonly why?: string | undefined;
}

/**
 * Judges the files of all directories.
 *
 * @param files of each directory in the order in which runtimes read them
 * @param runtimes those that say which directory they read; none where that is not known
 */
export function usesOf(
  files: readonly ConfigurationFile[],
  runtimes: readonly Runtime[] = [],
): ReadonlyMap<ConfigurationFile, FileUse> {
  const isRead = ({ isNamespaced, directory }: ConfigurationFile): boolean =>
    !isNamespaced &&
    (runtimes.length === 0 || runtimes.some(({ configurations }) => configurations === directory));
  const usable = files.filter(({ refusal }) => refusal === undefined);
  const firstIn = (directory: string): ConfigurationFile | undefined =>
    usable.find((file) => isRead(file) && file.directory === directory);
  // A runtime may read just the directory in which such a network is the first.
  const firstNetworks = new Set([
    ...files.flatMap(({ directory }) => firstIn(directory)?.network ?? []),
    ...runtimes.flatMap(({ network }) => network ?? []),
  ]);
  const useOf = (file: ConfigurationFile): FileUse => {
    const isOfNetwork = ({ network }: ConfigurationFile): boolean =>
      file.network !== "" && network === file.network;
    if (!file.isNamespaced && !isRead(file)) {
      const other = usable.find((candidate) => isOfNetwork(candidate) && isRead(candidate));
      const why = `no runtime reads ${file.directory}: ${describeReaders(runtimes)}`;
      return { kind: "unread", file, other, why };
    }
    const isSame = (other: ConfigurationFile): boolean =>
      isOfNetwork(other) && other.directory === file.directory;
    if (file.refusal !== undefined) {
      const [other] = [...usable, ...files].filter(isSame);
      return { kind: "refused", file, other: other === file ? undefined : other };
    }
    const before = usable.slice(0, usable.indexOf(file)).filter(isSame);
    const [first] = before;
    const isChosen = file.isList && !before.some(({ isList }) => isList);
    if (first !== undefined && !isChosen) {
      const why = `no runtime uses it: ${comesFirst(file, first)}`;
      return { kind: "behind", file, other: first, why };
    }
    if (first !== undefined || file.isNamespaced) return byName(file, first);
    const other = firstIn(file.directory);
    if (other === file || firstNetworks.has(file.network)) return { kind: "used", file };
    return byName(file, other?.callsOthers === true ? undefined : other);
  };
  return new Map(files.map((file) => [file, useOf(file)]));
}

function byName(file: ConfigurationFile, other: ConfigurationFile | undefined): FileUse {
  const why = other && `containerd and CRI-O do not use it: ${comesFirst(file, other)}`;
  return { kind: "byName", file, other, why };
}

function comesFirst({ network }: ConfigurationFile, other: ConfigurationFile): string {
  return network === other.network
    ? `${other.source} configures ${network}, too, and comes first`
    : `${other.source} comes first, so that pods get addresses of ${other.network || "that"}`;
}

/** Whether a runtime uses a file, be it by the name of its network. */
export function isInUse(use: FileUse | undefined): boolean {
  return use?.kind === "used" || use?.kind === "byName";
}

/**
 * Whether nobody uses a file, and another one is used in its place. A refused file without another one still tells what there
 * is of its network.
 */
export function isUnused(use: FileUse | undefined): boolean {
  return use?.other !== undefined && use.kind !== "byName";
}
