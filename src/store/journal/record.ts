/** What a line of the journal tells of a reservation besides its owner: for which network namespace its file was made. */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { attempt, type FileStatus, NO_FILE, recover } from "../../system/system.ts";
import { type FileId, fileIdOf } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import {
  containerOf,
  type IdEnd,
  keyIn,
  keyOf,
  type Owner,
  parseOwner,
} from "../reservations/owner.ts";
import {
  LARGEST_RESERVATION,
  type ReservationFile,
  readOwner,
} from "../reservations/reservation-file.ts";

/** For whom an ADD reserves an address. */
export interface AddedNamespace extends NetworkNamespace {
  /** Whether the container is the sandbox of a pod, which has nothing without its namespace. */
  readonly isPodSandbox: boolean;
}

/** A reservation that a line of the journal tells of. */
export interface RecordedReservation extends ReservationFile {
  /** That of its container. */
  readonly idEnd: IdEnd;
  /** The file has not changed from this time on, in nanoseconds since the epoch; `undefined` where that does not matter. */
  readonly changedBefore: bigint | undefined;
  readonly namespace: AddedNamespace;
}

const DECIMAL = /^[0-9]+$/;

/** The last word of a record of a pod's sandbox. */
const POD_SANDBOX = "pod";

/** In the path of a namespace, in place of the container's id. */
const CONTAINER = "*";

/**
 * What a line has behind the name, with a space before it; nothing where file or namespace is not known, or its path cannot be
 * written.
 *
 * @param containerId of the container, which the line does not have: some runtimes name the namespace by it
 */
export function formatRecord(
  containerId: string,
  file: FileId | undefined,
  namespace: AddedNamespace | undefined,
): string {
  if (file === undefined || namespace === undefined) return "";
  const { inode, path, isPodSandbox } = namespace;
  if (path.includes(CONTAINER)) return "";
  const words = ` ${file} ${inode} ${path.replaceAll(containerId, CONTAINER)}`;
  return isPodSandbox ? `${words} ${POD_SANDBOX}` : words;
}

/**
 * A record with the path of its namespace as it was given; `undefined` where that had the container's id, and the reservation
 * is gone or another's.
 *
 * @throws SystemError where the reservation cannot be read
 */
export function withWholePath(
  files: NetworkFiles,
  record: RecordedReservation,
): RecordedReservation | undefined {
  const { namespace, name, key } = record;
  if (!namespace.path.includes(CONTAINER)) return record;
  const read = (): string => files.system.readFile(files.pathOf(name), LARGEST_RESERVATION);
  const content = attempt(read, undefined, ...NO_FILE);
  const owner = content === undefined ? undefined : parseOwner(content);
  if (owner === undefined || keyOf(owner) !== key) return undefined;
  const path = namespace.path.replaceAll(CONTAINER, containerOf(owner));
  return { ...record, namespace: { ...namespace, path } };
}

/**
 * Reads a line with a record; `undefined` where it has none.
 *
 * @param changedBefore of a record that does not tell it
 */
export function recordIn(
  line: string,
  changedBefore: bigint | undefined,
): RecordedReservation | undefined {
  // Of 65 000 lines: neither by an expression nor by a pattern, which would take longer than the rest.
  const words = line.split(" ");
  const id = words[3] ?? "";
  const inode = words[4] ?? "";
  const path = words[5] ?? "";
  const isPodSandbox = words[6] === POD_SANDBOX;
  if (words.length > (isPodSandbox ? 7 : 6)) return undefined;
  if (!(Number(inode) > 0) || !path.startsWith("/")) return undefined;
  // What else is no id of a file, no file has.
  const comma = id.indexOf(",");
  const end = id.indexOf(",", comma + 1);
  const before = end < 0 ? undefined : id.slice(end + 1);
  if (comma < 0 || (before !== undefined && !DECIMAL.test(before))) return undefined;
  const idEnd = (words[0] ?? "") as IdEnd;
  return {
    name: words[2] ?? "",
    key: keyIn(idEnd, words[1] ?? ""),
    idEnd,
    file: (end < 0 ? id : id.slice(0, end)) as FileId,
    changedBefore: before === undefined ? changedBefore : BigInt(before),
    namespace: { inode, path, isPodSandbox },
  };
}

/**
 * The same line for a journal that is written anew after somebody else has changed the directory: of a file that has not
 * changed since.
 *
 * @param changedBefore when that journal was sealed, in nanoseconds since the epoch
 */
export function carriedOver(line: string, changedBefore: bigint): string {
  const [idEnd, interfaceName, name, file = "", ...rest] = line.split(" ");
  if (rest.length === 0) return line;
  const isBounded = file.split(",").length > 2;
  const bounded = isBounded ? file : `${file},${changedBefore}`;
  return [idEnd, interfaceName, name, bounded, ...rest].join(" ");
}

/**
 * Whether a file that was found under the name of a reservation is the one that was recorded; `undefined` where it may be
 * another one with the same number and time.
 *
 * @param owner whose reservation the file is
 */
export function isOfRecord(
  { key, file, changedBefore }: Omit<RecordedReservation, "name">,
  found: Pick<FileStatus, "kind" | "changed"> & { readonly id: FileId },
  owner: Owner,
): boolean | undefined {
  if (found.kind !== "file" || found.id !== file) return false;
  if (keyOf(owner) !== key) return false;
  return changedBefore === undefined || found.changed < changedBefore ? true : undefined;
}

/** Whether a reservation is still the one that was recorded; `undefined` where that cannot be told. */
export function isAsRecorded(
  files: NetworkFiles,
  record: RecordedReservation,
): boolean | undefined {
  const read = (): FileStatus => files.system.linkStatus(files.pathOf(record.name));
  const status = recover(read, ({ code }) => (code === "ENOENT" ? false : undefined));
  if (!status) return status;
  const owner = readOwner(files, record.name);
  if (owner.kind === "unknown") return undefined;
  const { kind, changed } = status;
  return isOfRecord(record, { kind, changed, id: fileIdOf(status) }, owner);
}
