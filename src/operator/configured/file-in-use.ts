/** Which of the configuration files of a node are in use, and by whom: by what was read of them alone. */

import { describeReaders, type Runtime } from "./runtime.ts";

/** What decides on a file. */
export interface NetworkFile {
  readonly source: string;
  readonly directory: string;
  /** The network that it configures; empty where it names none. */
  readonly network: string;
  /** Whether it has a list of plugins, not one alone. */
  readonly isList: boolean;
  /** Whether it has a plugin that calls the networks of others, such as multus. */
  readonly callsOthers: boolean;
  /** Why no runtime can use it; `undefined` where one can. */
  readonly refusal: string | undefined;
  /** Whether all runtimes read it, or nerdctl alone, for a namespace of containerd; or it is in libcni's cache. */
  readonly kind: "file" | "namespaced" | "cached";
}

/**
 * Who uses a file. The runtimes of Kubernetes use the first of their directory alone, multus, podman, nerdctl and cnitool any, by
 * the name of its network, and of that a list before a plugin alone.
 */
export type FileUse<File extends NetworkFile = NetworkFile> =
  /** A file that every runtime uses which reads its directory. */
  | { readonly kind: "used"; readonly file: File }
  /** A file that those use who ask for its network by name; with the one that Kubernetes' use, unless that calls it, as multus. */
  | { readonly kind: "byName"; readonly file: File; readonly other: File | undefined }
  /** A file in a directory that none of the runtimes reads; with one of its network that one of them does. */
  | {
      readonly kind: "unread";
      readonly file: File;
      readonly other: File | undefined;
      readonly runtimes: readonly Runtime[];
    }
  /** A file that none uses: another one of its network comes first. */
  | { readonly kind: "behind"; readonly file: File; readonly other: File }
  /** A file that none can use; with another one of its network, if there is one. */
  | { readonly kind: "refused"; readonly file: File; readonly other: File | undefined }
  /** A configuration without a file: whoever attached a pod to the network had it from elsewhere. */
  | { readonly kind: "cached"; readonly file: File };

/**
 * Judges the files of all directories.
 *
 * @param files of each directory in the order in which runtimes read them
 * @param runtimes those that say which directory they read; none where that is not known
 */
export function usesOf<File extends NetworkFile>(
  files: readonly File[],
  runtimes: readonly Runtime[] = [],
): ReadonlyMap<File, FileUse<File>> {
  const isRead = ({ kind, directory }: File): boolean =>
    kind === "file" &&
    (runtimes.length === 0 || runtimes.some(({ configurations }) => configurations === directory));
  const usable = files.filter(({ refusal }) => refusal === undefined);
  const firsts = new Map<string, File>();
  for (const file of usable) {
    if (isRead(file) && !firsts.has(file.directory)) firsts.set(file.directory, file);
  }
  // Of several directories a runtime may read the one in which such a network is the first.
  const firstNetworks = new Set([
    ...[...firsts.values()].map(({ network }) => network),
    ...runtimes.flatMap(({ network }) => network ?? []),
  ]);
  const useOf = (file: File): FileUse<File> => {
    if (file.kind === "cached") return { kind: "cached", file };
    if (file.kind === "file" && !isRead(file)) {
      const other = usable.find(
        (one) => file.network !== "" && one.network === file.network && isRead(one),
      );
      return { kind: "unread", file, other, runtimes };
    }
    const isSame = (other: File): boolean =>
      file.network !== "" && other.directory === file.directory && other.network === file.network;
    if (file.refusal !== undefined) {
      const [other] = [...usable, ...files].filter(isSame);
      return { kind: "refused", file, other: other === file ? undefined : other };
    }
    const before = usable.slice(0, usable.indexOf(file)).filter(isSame);
    const [first] = before;
    if (first !== undefined) {
      const isChosen = file.isList && !before.some(({ isList }) => isList);
      return { kind: isChosen ? "byName" : "behind", file, other: first };
    }
    if (file.kind === "namespaced") return { kind: "byName", file, other: undefined };
    const other = firsts.get(file.directory);
    if (other === file || firstNetworks.has(file.network)) return { kind: "used", file };
    return { kind: "byName", file, other: other?.callsOthers === true ? undefined : other };
  };
  return new Map(files.map((file) => [file, useOf(file)]));
}

/** Whether a runtime uses a file, be it by the name of its network. */
export function isInUse(use: FileUse | undefined): boolean {
  return use?.kind === "used" || use?.kind === "byName";
}

/** The file that is used in place of one: by every runtime, or by those of Kubernetes; `undefined` where there is none. */
export function fileInPlaceOf<File extends NetworkFile>(use: FileUse<File>): File | undefined {
  return "other" in use ? use.other : undefined;
}

/** Whether nobody uses a file, and another one of its network is used; one that is refused tells what there is of its network. */
export function isUnused(use: FileUse | undefined): boolean {
  return use !== undefined && use.kind !== "byName" && fileInPlaceOf(use) !== undefined;
}

/** Why a file is not used by all, as a clause; `undefined` where it is, or nothing is in its place, or it is refused. */
export function whyNotUsed(use: FileUse): string | undefined {
  if (use.kind === "unread") {
    return `no runtime reads ${use.file.directory}: ${describeReaders(use.runtimes)}`;
  }
  const other = fileInPlaceOf(use);
  if (other === undefined) return undefined;
  const { source, network } = other;
  const comesFirst =
    network === use.file.network
      ? `${source} configures ${network}, too, and comes first`
      : `${source} comes first, so that pods get addresses of ${network || "that"}`;
  switch (use.kind) {
    case "behind":
      return `no runtime uses it: ${comesFirst}`;
    case "byName":
      return `the runtimes of Kubernetes do not use it: ${comesFirst}`;
    default:
      return undefined;
  }
}
