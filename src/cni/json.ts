/** JSON as the Go plugin reads and writes it. */

import { type CniError, internalError } from "./error.ts";
import { MAX_DEPTH, syntaxError } from "./json-syntax.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A value with its path in the document, such as `ipam.ranges[0][1].rangeStart`. */
export interface Located {
  readonly value: Json;
  readonly path: string;
}

// Where engines differ in what they accept: numbers that end in a dot or begin with `-0`, escapes, and nesting depth.
const dotEnd = /[0-9]\.(?:[^0-9]|$)/;
const leadingZero = /-0[0-9]/;
const goodEscape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/g;
const noBracket = /"[^"]*"|[^"[\]{}]+/g;

/**
 * Parses one JSON document.
 *
 * @param text the document; a byte order mark is an error, as in Go
 * @throws SyntaxError with the message of Go's `encoding/json`
 */
export function parseJson(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Where the text is valid, the engine ran out of stack, and its message says so.
    throw new SyntaxError(syntaxError(text) || String(error));
  }
  if (isDoubtful(text)) {
    const problem = syntaxError(text);
    if (problem !== "") throw new SyntaxError(problem);
  }
  return value;
}

/** Whether the engine may have accepted what Go does not; scanning each text would cost more than parsing it. */
function isDoubtful(text: string): boolean {
  const unescaped = text.includes("\\") ? text.replace(goodEscape, "") : text;
  return (
    dotEnd.test(text) ||
    // The search for two characters is much cheaper than the expression.
    (text.includes("-0") && leadingZero.test(text)) ||
    unescaped.includes("\\") ||
    (text.length > MAX_DEPTH && depthOf(unescaped) > MAX_DEPTH)
  );
}

/** How deep the brackets of a valid text without escapes are nested. */
function depthOf(text: string): number {
  const brackets = text.replace(noBracket, "");
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < brackets.length; at++) {
    const code = brackets.charCodeAt(at);
    depth += code === OPEN_LIST || code === OPEN_OBJECT ? 1 : -1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

const OPEN_LIST = "[".charCodeAt(0);
const OPEN_OBJECT = "{".charCodeAt(0);

/** Searched one by one: an expression that looks at each character costs QuickJS forty thousand instructions. */
const ESCAPES = [
  ["<", "\\u003c"],
  [">", "\\u003e"],
  ["&", "\\u0026"],
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
] as const;

/**
 * A value as Go's `json.MarshalIndent` with four spaces writes it: `<`, `>`, `&`, U+2028 and U+2029 are
 * escaped, nothing follows the last bracket.
 */
export function formatJson(value: unknown): string {
  let text = JSON.stringify(value, null, 4);
  for (const [character, escaped] of ESCAPES) text = text.replaceAll(character, escaped);
  return text;
}

/** The kind of a value in the words of Go's JSON decoder. */
export function kindOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

export function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The member `name` of an object. Keys match in any letter case and the last one wins, as Go's decoder has it;
 * a member that is `null` counts as absent.
 *
 * @param at where an object is expected
 * @returns `undefined` where the member is absent or `null`
 * @throws CniError 999 where `at` is not an object
 */
export function member(at: Located, name: string): Located | undefined {
  const found = memberOrNull(at, name);
  return found?.value === null ? undefined : found;
}

/** The object that was asked for a member last, and its keys: one is asked for a dozen members in a row. */
let lastAsked: JsonObject | undefined;
let lastKeys: readonly string[] = [];
/** The lengths of these keys as bits, each modulo 32: most members that are asked for are absent. */
let lastLengths = 0;

/** The keys of an object; none where none is as long as `name`. */
function keysLike(name: string, object: JsonObject): readonly string[] {
  if (object !== lastAsked) {
    lastKeys = Object.keys(object);
    lastLengths = 0;
    for (let at = 0; at < lastKeys.length; at++) lastLengths |= 1 << (lastKeys[at] ?? "").length;
    lastAsked = object;
  }
  return (lastLengths & (1 << name.length)) === 0 ? [] : lastKeys;
}

/** As `member`, but a member that is `null` is returned as such. */
export function memberOrNull(at: Located, name: string): Located | undefined {
  const { value } = at;
  if (!isObject(value)) throw typeMismatch(at, "an object");
  const keys = keysLike(name, value);
  // By index, since each ADD asks for twenty members, and an iterator costs QuickJS as much as the comparison.
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? "";
    // The length first: there may be a million keys.
    if (key.length !== name.length || key.toLowerCase() !== name.toLowerCase()) continue;
    const inner = value[key];
    if (inner === undefined) continue;
    return { value: inner, path: at.path === "" ? name : `${at.path}.${name}` };
  }
  return undefined;
}

/** The elements of a list; `undefined` counts as the empty list. */
export function elements(at: Located | undefined): readonly Located[] {
  if (at === undefined) return [];
  const { value, path } = at;
  if (!Array.isArray(value)) throw typeMismatch(at, "a list");
  return value.map((element: Json, index) => ({ value: element, path: `${path}[${index}]` }));
}

/** A string; `undefined` counts as the empty one. */
export function text(at: Located | undefined, expected = "a string"): string {
  if (at === undefined) return "";
  if (typeof at.value !== "string") throw typeMismatch(at, expected);
  return at.value.toWellFormed();
}

/** A whole number in the range of Go's `int`. */
export function integer(at: Located): number {
  const { value } = at;
  if (typeof value !== "number") throw typeMismatch(at, "a whole number");
  if (!Number.isInteger(value) || value >= 2 ** 63 || value < -(2 ** 63)) {
    throw typeMismatch(at, "a whole number", `number ${value}`);
  }
  return value;
}

/** The error for a value of the wrong type; it begins as the Go plugin's. */
export function typeMismatch(at: Located, expected: string, found = kindOf(at.value)): CniError {
  return internalError(`json: cannot unmarshal ${found} into ${at.path}: expected ${expected}`);
}
