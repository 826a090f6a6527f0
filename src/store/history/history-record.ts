/**
 * A line of the history: time, verb, address, container, interface and pod, with a space between them and `-` for what is
 * not known.
 *
 *     2026-01-31T12:00:00.000Z ADD 10.1.2.3 c1 eth0 default/web
 *     2026-01-31T12:30:00.000Z release 10.1.2.3 c1 eth0 -
 *
 * A line that the disk has only in part (a kill, a power loss, a full disk) has no end; what is appended to it later is
 * recognized by its time and verb.
 */

import { formatAddress, parseAddress } from "../../ipam/address.ts";
import type { Owner } from "../reservations/owner.ts";

/** Verbs of the plugin and, in lower case, commands of the operator. `ADD` reserves, every other one releases. */
const verbs = ["ADD", "DEL", "GC", "UNDO", "RECLAIM", "release", "gc", "check"] as const;

/**
 * `UNDO` is an ADD whose result could not be delivered, `RECLAIM` one that took the address from a reservation that gave
 * way.
 */
export type HistoryVerb = (typeof verbs)[number];

/** What a call did to a reservation. */
export interface Change {
  readonly kind: "reserved" | "released";
  /** The name of its file. */
  readonly name: string;
  readonly owner: Owner;
}

/** What a line says; a text is empty where it is not known. */
export interface HistoryRecord {
  /** When it happened, in milliseconds since the epoch, by the clock as it was then. */
  readonly time: number;
  readonly verb: HistoryVerb;
  /** The address in canonical form. */
  readonly address: string;
  readonly container: string;
  readonly interfaceName: string;
  /** `namespace/name`, or a name alone; see `podWord`. */
  readonly pod: string;
}

/** The longest name of a pod in Kubernetes with its namespace, in characters. */
const LONGEST_POD = 253 + 1 + 63;

const UNKNOWN = "-";

/** The length of a time as lines have it, in characters. */
const TIME_LENGTH = 24;

const timeAtEnd = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;

/** A record as a line, with its end; ASCII only. */
export function formatRecord(record: HistoryRecord): string {
  const { time, verb, address, container, interfaceName, pod } = record;
  const words = [
    new Date(time).toISOString(),
    verb,
    wordOf(address),
    wordOf(container),
    wordOf(interfaceName),
    podWord(pod),
  ];
  return `${words.join(" ")}\n`;
}

/** A pod as the history has it: what is not a printable ASCII character is `?`, and a very long name is cut off. */
export function podWord(pod: string): string {
  return wordOf(pod.slice(0, LONGEST_POD));
}

function wordOf(text: string): string {
  return text.replace(/[^!-~]/g, "?") || UNKNOWN;
}

/** The records of a text, in their order. Lines that are not whole are left out. */
export function parseRecords(text: string): readonly HistoryRecord[] {
  const lines = text.split("\n");
  // The last line end is followed by nothing, or by a part of a line.
  lines.pop();
  return lines.flatMap((line) => parseRecord(line) ?? []);
}

function parseRecord(line: string): HistoryRecord | undefined {
  const words = line.split(" ");
  // The record begins at the last time that a verb follows: a line without its end may stand before it.
  const at = words.findLastIndex((word, index) => isVerb(words[index + 1]) && timeAtEnd.test(word));
  const time = String(words[at]).slice(-TIME_LENGTH);
  const [verb, name = "", container, interfaceName, pod, ...others] = words.slice(at + 1);
  const address = parseAddress(name);
  const milliseconds = Date.parse(time);
  if (!isVerb(verb) || address === undefined) return undefined;
  if (pod === undefined || others.length > 0 || Number.isNaN(milliseconds)) return undefined;
  return {
    time: milliseconds,
    verb,
    address: formatAddress(address),
    container: known(container),
    interfaceName: known(interfaceName),
    pod: known(pod),
  };
}

function isVerb(word: string | undefined): word is HistoryVerb {
  return verbs.some((verb) => verb === word);
}

function known(word = UNKNOWN): string {
  return word === UNKNOWN ? "" : word;
}
