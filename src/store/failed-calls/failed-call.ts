/**
 * A line about a call that failed, or that gave back at once what it had reserved: a JSON object, in ASCII.
 *
 *     {"time":"2026-01-31T12:00:00.000Z","kind":"failed","verb":"ADD","network":"mynet", … ,"code":999,"message":"…"}
 *
 * Its first key is the time: where a full disk has a line only in part, what is appended to that later is read.
 */

import { isObject, type Json, type JsonObject, parseJson } from "../../cni/json.ts";
import { isReason } from "../../system/system.ts";

/** The verbs whose failures are kept: STATUS asks every few seconds, and VERSION cannot fail. */
const verbs = ["ADD", "DEL", "CHECK", "GC"] as const;

/** A verb whose failures are kept. */
export type KeptVerb = (typeof verbs)[number];

/** What is known of any call; a text is empty where it is not known. */
export interface KeptCall {
  /** When it ended, in milliseconds since the epoch. */
  readonly time: number;
  readonly verb: KeptVerb;
  /** The network's name. */
  readonly network: string;
  /** `ipam.dataDir`, or where the network's files are by default. */
  readonly dataDir: string;
  readonly container: string;
  readonly interfaceName: string;
  /** `namespace/name`, or a name alone. */
  readonly pod: string;
}

/** A call that ended in an error. */
export interface FailedCall extends KeptCall {
  readonly kind: "failed";
  /** The code that the runtime received. */
  readonly code: number;
  /** What the runtime received, and so a user who describes the pod. */
  readonly message: string;
  readonly details: string;
}

/**
 * A DEL of a pod's sandbox that released what had only just been reserved for it: what a plugin that fails after this one looks
 * like from here.
 */
export interface ReturnedAddress extends KeptCall {
  readonly kind: "returned";
  /** How long it was reserved, in milliseconds. */
  readonly after: number;
}

/** What a line says. */
export type CallRecord = FailedCall | ReturnedAddress;

/** What an error ends with: of a system call its reason, as in `open /data/net/lock: read-only file system`. */
export function causeIn(text: string): string {
  return text.slice(text.lastIndexOf(": ") + 1).trim();
}

/** Whether a call failed by an error of the system. */
export function isOfSystem({ message, details }: FailedCall): boolean {
  return [message, details].some((text) => isReason(causeIn(text)));
}

/** The longest line, in bytes, with its end. */
const LONGEST_LINE = 4096;

/** The keys of a line whose texts are cut off where it would be too long, in this order. */
const cutFirst = ["details", "message", "dataDir", "pod", "container", "interface", "network"];

/** What stands at the end of a text that was cut off. */
const CUT = "…";

/** How a line begins, and no text within it, where a quotation mark is escaped. */
const START = '{"time":';

/** Whether the failures of calls with a verb are kept. */
export function isKeptVerb(verb: Json | undefined): verb is KeptVerb {
  return verbs.some((keptVerb) => keptVerb === verb);
}

/** A record as a line of at most 4096 bytes, with its end; texts that are too long end in `…`. */
export function formatCall(record: CallRecord): string {
  const { time, kind, verb, network, dataDir, container, interfaceName, pod } = record;
  const outcome =
    record.kind === "failed"
      ? { code: record.code, message: record.message, details: record.details }
      : { after: record.after };
  const line: Record<string, string | number> = {
    ...{ time: new Date(time).toISOString(), kind, verb },
    ...{ network, dataDir, container, interface: interfaceName, pod },
    ...outcome,
  };
  for (const [key, value] of Object.entries(line)) {
    // The rest is cut off in any case, and a text may have 64 MiB.
    if (typeof value === "string") line[key] = value.slice(0, LONGEST_LINE);
  }
  for (const key of cutFirst) {
    const excess = ascii(line).length + 1 - LONGEST_LINE;
    const text = line[key];
    if (excess > 0 && typeof text === "string" && text !== "") line[key] = cutOff(text, excess);
  }
  return `${ascii(line)}\n`;
}

/** A text without its last characters, so that it takes `excess` bytes less in a line, or without any. */
function cutOff(text: string, excess: number): string {
  const letters = [...text];
  let left = excess + bytesOf(CUT);
  while (left > 0) {
    const last = letters.pop();
    if (last === undefined) break;
    left -= bytesOf(last);
  }
  return `${letters.join("")}${CUT}`;
}

/** How many bytes a text takes in a line, without its quotation marks. */
function bytesOf(text: string): number {
  return ascii(text).length - 2;
}

/** A value as JSON in one line, with an escape for whatever a terminal may not show as it is. */
function ascii(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The records of a text, in their order. What is not a whole line of this form is left out. */
export function parseCalls(text: string): readonly CallRecord[] {
  const lines = text.split("\n");
  // The last line end is followed by nothing, or by a part of a line.
  lines.pop();
  return lines.flatMap((line) => recordIn(line.slice(line.lastIndexOf(START))) ?? []);
}

function recordIn(line: string): CallRecord | undefined {
  let value: Json;
  try {
    value = parseJson(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return isObject(value) ? recordOf(value) : undefined;
}

function recordOf(value: JsonObject): CallRecord | undefined {
  const { time, kind, verb, code, message, details, after } = value;
  const { network, dataDir, container, interface: interfaceName, pod } = value;
  const milliseconds = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (!isKeptVerb(verb) || Number.isNaN(milliseconds)) return undefined;
  if (!isText(network) || !isText(dataDir)) return undefined;
  if (!isText(container) || !isText(interfaceName) || !isText(pod)) return undefined;
  const call = { time: milliseconds, verb, network, dataDir, container, interfaceName, pod };
  if (kind === "returned") {
    return typeof after === "number" ? { ...call, kind, after } : undefined;
  }
  if (kind !== "failed" || typeof code !== "number") return undefined;
  if (!isText(message) || !isText(details)) return undefined;
  return { ...call, kind, code, message, details };
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string";
}
