/** What a line of the journal tells of a reservation besides its owner: for which network namespace its file was made. */

import type { Attachment } from "../../cni/attachment.ts";
import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { type FileStatus, recover } from "../../system/system.ts";
import { type FileId, fileIdOf } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { keyIn, keyOf, type Owner, type OwnerKey } from "../reservations/owner.ts";
import { readOwner } from "../reservations/reservation-file.ts";

/** For whom an ADD reserves an address. */
export interface AddedNamespace extends NetworkNamespace {
  /** Whether the container is the sandbox of a pod, which has nothing without its namespace. */
  readonly isPodSandbox: boolean;
}

/** A reservation that a line of the journal tells of. */
export interface RecordedReservation {
  /** The name of its file. */
  readonly name: string;
  readonly key: OwnerKey;
  readonly containerId: Attachment["containerId"];
  /** The file that the ADD made: another one under its name is another reservation. */
  readonly file: FileId;
  /** The file has not changed from this time on, in nanoseconds since the epoch; `undefined` where that does not matter. */
  readonly changedBefore: bigint | undefined;
  readonly namespace: AddedNamespace;
}

const DECIMAL = /^[0-9]+$/;

/** The last word of a record of a pod's sandbox. */
const POD_SANDBOX = "pod";

/** What a line has behind the name, with a space before it; nothing where file or namespace is not known. */
export function formatRecord(
  file: FileId | undefined,
  namespace: AddedNamespace | undefined,
): string {
  if (file === undefined || namespace === undefined) return "";
  const { inode, path, isPodSandbox } = namespace;
  const words = ` ${file} ${inode} ${path}`;
  return isPodSandbox ? `${words} ${POD_SANDBOX}` : words;
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
  const words = line.split(" ");
  const [containerId = "", interfaceName = "", name = "", id = "", inode = "", path = ""] = words;
  // What else is no id of a file, no file has. There may be 65 000 lines: an expression would take longer than the rest.
  const comma = id.indexOf(",");
  const end = id.indexOf(",", comma + 1);
  const before = end < 0 ? undefined : id.slice(end + 1);
  if (comma < 0 || (before !== undefined && !DECIMAL.test(before))) return undefined;
  if (!DECIMAL.test(inode) || !path.startsWith("/")) return undefined;
  const isPodSandbox = words[6] === POD_SANDBOX;
  if (words.length > (isPodSandbox ? 7 : 6)) return undefined;
  return {
    name,
    key: keyIn(containerId, interfaceName),
    containerId: containerId as Attachment["containerId"],
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
  const [containerId, interfaceName, name, file = "", ...rest] = line.split(" ");
  if (rest.length === 0) return line;
  const isBounded = file.split(",").length > 2;
  const bounded = isBounded ? file : `${file},${changedBefore}`;
  return [containerId, interfaceName, name, bounded, ...rest].join(" ");
}

/**
 * Whether a file that was found under the name of a reservation is the one that was recorded; `undefined` where it may be
 * another one with the same number and time.
 *
 * @param owner whose reservation the file is
 */
export function isOfRecord(
  { key, file, changedBefore }: Omit<RecordedReservation, "name">,
  status: Pick<FileStatus, "kind" | "inode" | "modified" | "changed">,
  owner: Owner,
): boolean | undefined {
  if (status.kind !== "file" || fileIdOf(status) !== file) return false;
  if (keyOf(owner) !== key) return false;
  return changedBefore === undefined || status.changed < changedBefore ? true : undefined;
}

/** Whether a reservation is still the one that was recorded; `undefined` where that cannot be told. */
export function isAsRecorded(
  files: NetworkFiles,
  record: RecordedReservation,
): boolean | undefined {
  const read = (): FileStatus => files.system.linkStatus(files.pathOf(record.name));
  const status = recover(read, ({ code }) => (code === "ENOENT" ? false : undefined));
  if (status === undefined || status === false) return status;
  const owner = readOwner(files, record.name);
  return owner.kind === "unknown" ? undefined : isOfRecord(record, status, owner);
}
