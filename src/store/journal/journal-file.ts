/**
 * The journal: which reservations an attachment holds, without reading all of them.
 *
 * Its first line is the seal: which machine, boot and state of the network's directory the lines that follow are of, and
 * how long the file was then. Each of them says that an attachment holds an address from there on (`c1 eth0 10.1.2.3`, and
 * for which network namespace, or in which earlier boot, see `record.ts`), that it does not (`c1 eth0 -10.1.2.3`), or only
 * that it was looked for (`c1 eth0 -`). The journal is believed only while the seal is current, and even then what it lists
 * is checked against the reservations; whatever it does not tell is found by reading them all. Deleting it loses only what is
 * known to be from before this boot.
 */

import type { Attachment, ContainerId } from "../../cni/attachment.ts";
import { utf8Length } from "../../cni/unicode.ts";
import { parseAddress } from "../../ipam/address.ts";
import { eachLine } from "../../system/lines.ts";
import {
  type AddressFiles,
  attempt,
  isSystemError,
  type Lines,
  NO_FILE,
  type SystemError,
} from "../../system/system.ts";
import type { BootId, MachineId } from "../files/boot-id.ts";
import { type FileId, type Fingerprint, fingerprintOf, isUnchanged } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import type { StateDirectory } from "../files/state-directory.ts";
import { othersIn } from "../reservations/directory-scan.ts";
import { keyIn, keyOf, NO_INTERFACE, type OwnerKey } from "../reservations/owner.ts";
import type { HeldAddress, Reservation } from "../reservations/reservation-file.ts";

/** What the first line says. */
export interface Seal {
  readonly boot: BootId;
  /** The machine to which all reservations belong; `undefined` where it had no id. */
  readonly machine: MachineId | typeof SEVERAL | undefined;
  /** The network's directory, as the last call left it. */
  readonly directory: Fingerprint;
  /** The length of the file, in bytes. */
  readonly length: number;
  /** The journal's length when it was written anew. */
  readonly renewed: number;
}

/** What is read of a journal. */
export interface JournalContent {
  readonly seal: Seal;
  /** Whether the seal is current: only then is the journal believed. */
  readonly isCurrent: boolean;
  /** The further lines that were asked for, in their order, without their ends. */
  readonly found: readonly string[];
}

/** What the journal lists for an attachment. */
export interface Listing {
  /** The reservations that name the attachment, and legacy ones of its container; in the order of `allIn`. */
  readonly reservations: readonly HeldAddress[];
  /** Whether any line is about the attachment itself; if none is, it may hold more. */
  readonly isComplete: boolean;
}

/** The first line's length with its end, in bytes; longer than any seal. */
const HEADER = 256;

/** The name of the file, in the state directory. */
const FILE = "journal";

/** What the first line begins with; another number is another form. */
const FORM = "host-local-journal 8";

/** What stands in place of a container for every line. */
export const ALL = "";

/** The word in place of the machine where there may be reservations of several. */
export const SEVERAL = "*";

/** The word in place of the machine where it is not known. */
const NO_MACHINE = "-";

/** A journal that has grown beyond this many times its length when it was written anew is too long. */
const GROWTH = 3;

/** The longest journal that is believed, in bytes: one of a full /16 grows to 43 MiB. */
const LARGEST = 64 * 1024 * 1024;

/** No journal below this length is too long, in bytes. */
const SHORT = 64 * 1024;

/**
 * Reads the journal's seal, and the lines about a container or all; needs no lock.
 *
 * @param about the container, or `ALL`; `undefined` for the seal alone
 * @returns `undefined` where there is no journal that could be read
 */
export function readJournal(
  files: NetworkFiles,
  about: ContainerId | typeof ALL | undefined,
): JournalContent | undefined {
  return attempt(() => requireJournal(files, about), undefined);
}

/**
 * Reads a journal as `readJournal` does.
 *
 * @returns `undefined` where there is no journal, or what no call has written
 * @throws SystemError where it cannot be read, but may be by a later call
 */
export function requireJournal(
  files: NetworkFiles,
  about: ContainerId | typeof ALL | undefined,
): JournalContent | undefined {
  // A file that is far too long for a journal may have more lines than there is memory for.
  if (about === ALL && sealIn(findLines(files, undefined)) === undefined) return undefined;
  const lines = findLines(files, about && `${about} `);
  const seal = sealIn(lines);
  if (lines === undefined || seal === undefined) return undefined;
  return { seal, isCurrent: isCurrent(files, lines.size, seal), found: lines.found };
}

function findLines({ state }: NetworkFiles, start: string | undefined): Lines | undefined {
  return attempt(() => state?.findLines(FILE, start), undefined, ...NO_FILE);
}

/** The seal of a journal; `undefined` of what has none, or is longer than the lines of one call more make any. */
function sealIn(lines: Lines | undefined): Seal | undefined {
  const seal = lines && sealOf(lines.first);
  if (lines === undefined || seal === undefined) return undefined;
  const { size } = lines;
  const isPossible =
    size <= GROWTH * SHORT || (size <= GROWTH * GROWTH * seal.renewed && size <= LARGEST);
  return isPossible ? seal : undefined;
}

/** Why the journal cannot be read, also where its directory may not be searched; `undefined` if it can, or there is none. */
export function journalFault({ system, stateDirectory }: NetworkFiles): SystemError | undefined {
  try {
    system.findLines(`${stateDirectory}/${FILE}`, undefined);
    return undefined;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return isSystemError(error, ...NO_FILE) ? undefined : error;
  }
}

/**
 * Lines of the journal that have a text anywhere, in their order; needs no lock.
 *
 * @throws SystemError where the journal cannot be read
 */
export function linesWith(files: NetworkFiles, text: string): readonly string[] {
  const read = (): readonly string[] => files.state?.linesWith(FILE, text) ?? [];
  return attempt(read, [], ...NO_FILE);
}

function isCurrent(files: NetworkFiles, size: number, seal: Seal): boolean {
  if (seal.length !== size || isTooLong(seal) || seal.boot !== files.boot()) return false;
  const { system, directory } = files;
  return attempt(() => isUnchanged(fingerprintOf(system.status(directory)), seal.directory), false);
}

function isTooLong({ length, renewed }: Seal): boolean {
  return length > SHORT && length > renewed * GROWTH;
}

/**
 * What a journal lists for an attachment of the container in question; `undefined` where a line is none that a call has written.
 */
export function listingOf(
  { found }: Pick<JournalContent, "found">,
  attachment: Attachment,
): Listing | undefined {
  const { interfaceName } = attachment;
  const exact = new Set<string>();
  const ofContainer = new Set<string>();
  let isComplete = false;
  for (const line of found) {
    const words = line.split(" ", 3);
    if (words[1] === interfaceName) {
      isComplete = true;
      change(exact, words[2]);
    } else if (words[1] === NO_INTERFACE) change(ofContainer, words[2]);
  }
  const reservations: HeldAddress[] = [];
  for (const name of [...exact, ...ofContainer].sort()) {
    const address = parseAddress(name);
    if (address === undefined) return undefined;
    reservations.push({ address, name });
  }
  return { reservations, isComplete };
}

/** What all lines of a journal list together: the names of the reservations, each with one that held it. */
export function listedIn(found: JournalContent["found"]): ReadonlyMap<string, OwnerKey> {
  const held = new Map<OwnerKey, Set<string>>();
  for (const line of found) {
    // An empty line is about nobody: it only sets the length apart.
    if (line === "") continue;
    const [container = "", interfaceName = "", word] = line.split(" ", 3);
    const key = keyIn(container, interfaceName);
    const names = held.get(key) ?? new Set();
    held.set(key, names);
    change(names, word);
  }
  const pairs = [...held].flatMap(([key, names]) => [...names].map((name) => [name, key] as const));
  return new Map(pairs);
}

/**
 * The line of a reservation that an owner holds from here on.
 *
 * @param record as `formatRecorded` or `formatEarlier` has it; empty where nothing is known
 */
export function heldLine(key: OwnerKey, name: string, record = ""): string {
  return `${key} ${name}${record}`;
}

/** The line of a reservation that an owner holds no more; without a name, that the owner was looked for. */
export function releasedLine(key: OwnerKey, name: string): string {
  return `${key} -${name}`;
}

/** Changes the names that an owner holds by the third word of a line about that owner. */
function change(names: Set<string>, word = ""): void {
  if (word.startsWith("-")) names.delete(word.slice(1));
  else names.add(word);
}

/** When the directory was left as a seal says, in nanoseconds since the epoch; before anything where it does not say it. */
export function sealedAt({ directory }: Seal): bigint {
  return /^-?[0-9]+$/.test(directory.changed) ? BigInt(directory.changed) : 0n;
}

/**
 * Writes the journal anew from the result of a search; its seal is of no length yet, and so not current.
 *
 * @param seal what a later boot needs of it, if this call is killed, or power is lost, before it is sealed
 * @param records lines with records, by the names of the reservations, in their order
 * @param former the seal of the journal whose place it takes: then it is on disk before, since the next boot needs it: after a loss
 *   of power it would be empty
 * @returns its length in bytes
 * @throws SystemError
 */
export function renewJournal(
  state: StateDirectory,
  scan: AddressFiles,
  seal: Pick<Seal, "boot" | "machine" | "directory">,
  records: ReadonlyMap<string, string>,
  former: Seal | undefined,
): number {
  const found = `${withRecords(scan.usual, records)}${othersIn(scan).map(lineOf).join("")}`;
  // If the lock file was removed, a call that has read the former journal may seal this one: its length must be another.
  const lines = HEADER + utf8Length(found) === former?.length ? `${found}\n` : found;
  const renewed = HEADER + utf8Length(lines);
  state.replace(FILE, `${headerOf({ ...seal, length: 0, renewed })}${lines}`, former !== undefined);
  return renewed;
}

/** The lines of a search: all others first, then those with records, in the order of these. */
function withRecords(usual: string, records: ReadonlyMap<string, string>): string {
  if (records.size === 0) return usual;
  const plain: string[] = [];
  const there = new Set<string>();
  for (const line of eachLine(usual)) {
    const name = line.slice(line.lastIndexOf(" ") + 1);
    if (records.get(name)?.startsWith(`${line} `) === true) there.add(name);
    else plain.push(line);
  }
  for (const [name, line] of records) if (there.has(name)) plain.push(line);
  return plain.map((line) => `${line}\n`).join("");
}

function lineOf({ name, owner }: Reservation): string {
  const key = keyOf(owner);
  return key === undefined ? "" : `${heldLine(key, name)}\n`;
}

/**
 * Appends lines, and then puts the seal.
 *
 * @throws SystemError
 */
export function sealJournal(state: StateDirectory, lines: string, seal: Seal): void {
  state.extend(FILE, lines, headerOf(seal));
}

function headerOf(seal: Seal): string {
  const { boot, machine = NO_MACHINE, directory, length, renewed } = seal;
  const words = `${FORM} ${boot} ${machine} ${directory.id} ${directory.changed} ${length} ${renewed}`;
  return `${words.padEnd(HEADER - 1)}\n`;
}

/** The seal in a journal's first line; `undefined` where there is none. */
function sealOf(header: string): Seal | undefined {
  if (!header.startsWith(`${FORM} `)) return undefined;
  const words = header.slice(FORM.length + 1).split(" ", 6);
  // These words need no check: they are only compared with what they should be.
  const seal: Seal = {
    boot: words[0] as BootId,
    machine: words[1] === NO_MACHINE ? undefined : (words[1] as MachineId),
    directory: { id: words[2] as FileId, changed: words[3] ?? "" },
    length: Number(words[4]),
    renewed: Number(words[5]),
  };
  return isCount(seal.length) && isCount(seal.renewed) ? seal : undefined;
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}
