/**
 * What a line of the journal tells of a reservation besides its owner: for which network namespace its file was made, or in
 * which earlier boot.
 */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { type FileStatus, recover } from "../../system/system.ts";
import { type BootId, isBootId } from "../files/boot-id.ts";
import { type FileId, type Fingerprint, fileIdOf } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { keyIn, keyOf, type Owner } from "../reservations/owner.ts";
import { type ReservationFile, readOwner } from "../reservations/reservation-file.ts";

/** The network namespace for which an ADD reserves an address. */
export interface AddedNamespace extends NetworkNamespace {
  /** Whether the container is the sandbox of a pod, which has nothing without its namespace. */
  readonly isPodSandbox: boolean;
}

/** What a line of the journal tells of a reservation. */
export type JournalRecord = RecordedReservation | EarlierReservation;

/** The file of a reservation as a line of the journal has it. */
interface RecordedFile extends ReservationFile {
  readonly containerId: string;
  /** When the file was last changed, in nanoseconds since the epoch; `undefined` where that does not matter. */
  readonly changed: string | undefined;
}

/** A reservation of the running boot. */
export interface RecordedReservation extends RecordedFile {
  readonly namespace: AddedNamespace;
}

/** A reservation from before this boot. */
export interface EarlierReservation extends RecordedFile {
  /** The last boot in which it was held. */
  readonly boot: BootId;
}

/** Whether a reservation is from before this boot: then nothing of it lives. */
export function isEarlier(record: JournalRecord): record is EarlierReservation {
  return "boot" in record;
}

/** Whether any ADD may take the address once its holder is dead: any but a pod's may be in use without a container. */
export function isReclaimable(record: JournalRecord): boolean {
  return isEarlier(record) || record.namespace.isPodSandbox;
}

const DECIMAL = /^[0-9]+$/;

/** The word of a record of a pod's sandbox. */
const POD_SANDBOX = "pod";

/** The word of any other. */
const NO_POD_SANDBOX = "-";

/** How many words a line has before the path, which may have spaces. */
const WORDS = 6;

/** How many words a line has about a reservation from before this boot. */
const EARLIER_WORDS = 5;

/** What a line has behind the name, with a space before it; nothing where file or namespace is not known. */
export function formatRecorded(
  file: Fingerprint | undefined,
  namespace: AddedNamespace | undefined,
): string {
  if (file === undefined || namespace === undefined) return "";
  const { inode, id, path, isPodSandbox } = namespace;
  const number = id === undefined ? inode : `${inode},${id}`;
  return ` ${file.id},${file.changed} ${number} ${isPodSandbox ? POD_SANDBOX : NO_POD_SANDBOX} ${path}`;
}

/** Formats the record of a reservation that was held in an earlier boot. */
export function formatEarlier(file: FileId, boot: BootId): string {
  return ` ${file} ${boot}`;
}

/** Reads a line with a record; `undefined` where it has none. */
export function recordIn(line: string): JournalRecord | undefined {
  // A line is only split: for 65 000 of them, an expression or a pattern would take longer than the rest.
  const words = line.split(" ");
  const containerId = words[0] ?? "";
  const key = keyIn(containerId, words[1] ?? "");
  const name = words[2] ?? "";
  // The id needs no further check: no file has an invalid one.
  const file = words[3] ?? "";
  const comma = file.indexOf(",");
  if (comma < 0) return undefined;
  const boot = words[4] ?? "";
  if (words.length === EARLIER_WORDS) {
    if (!isBootId(boot)) return undefined;
    return { name, key, containerId, file: file as FileId, changed: undefined, boot };
  }
  const end = file.indexOf(",", comma + 1);
  const namespace = end < 0 ? undefined : namespaceIn(words);
  if (namespace === undefined) return undefined;
  const id = file.slice(0, end) as FileId;
  return { name, key, containerId, file: id, changed: file.slice(end + 1), namespace };
}

/** The namespace of a line; `undefined` where it has none. */
function namespaceIn(words: readonly string[]): AddedNamespace | undefined {
  const word = words[4] ?? "";
  const kind = words[5];
  const path = words.length === WORDS + 1 ? words[WORDS] : words.slice(WORDS).join(" ");
  if (path?.startsWith("/") !== true) return undefined;
  if (kind !== POD_SANDBOX && kind !== NO_POD_SANDBOX) return undefined;
  const comma = word.indexOf(",");
  const inode = comma < 0 ? word : word.slice(0, comma);
  const id = comma < 0 ? undefined : word.slice(comma + 1);
  if (!DECIMAL.test(inode) || inode === "0" || (id !== undefined && !DECIMAL.test(id)))
    return undefined;
  return { inode, id, path, isPodSandbox: kind === POD_SANDBOX };
}

/**
 * Whether a file that was found under the name of a reservation is the one that was recorded; `undefined` where it may be
 * another one, such as that of a backup, which has its time.
 *
 * @param owner whose reservation the file is
 */
export function isOfRecord(
  { key, file, changed }: Omit<RecordedFile, "name">,
  found: Pick<FileStatus, "kind" | "changed"> & { readonly id: FileId },
  owner: Owner,
): boolean | undefined {
  if (found.kind !== "file" || found.id !== file) return false;
  if (keyOf(owner) !== key) return false;
  return changed === undefined || `${found.changed}` === changed ? true : undefined;
}

/** Whether a reservation is still the one that was recorded; `undefined` where that cannot be told. */
export function isAsRecorded(files: NetworkFiles, record: RecordedFile): boolean | undefined {
  const read = (): FileStatus => files.system.linkStatus(files.pathOf(record.name));
  const status = recover(read, ({ code }) => (code === "ENOENT" ? false : undefined));
  if (!status) return status;
  const owner = readOwner(files, record.name);
  if (owner.kind === "unknown") return undefined;
  const { kind, changed } = status;
  return isOfRecord(record, { kind, changed, id: fileIdOf(status) }, owner);
}
