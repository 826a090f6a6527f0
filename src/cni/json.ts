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
  /** The members of an object by folded key, made when one is asked for: mostly a dozen more follow. */
  members?: ReadonlyMap<string, Json>;
}

// Engines differ in what they accept: numbers that end in a dot or begin with `-0`, escapes, and nesting depth.
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
  const hasEscapes = text.includes("\\");
  const unescaped = hasEscapes ? text.replace(goodEscape, "") : text;
  return (
    hasDotEnd(text) ||
    // The search for two characters is much cheaper than the expression.
    (text.includes("-0") && leadingZero.test(text)) ||
    (hasEscapes && unescaped.includes("\\")) ||
    (text.length > MAX_DEPTH && depthOf(unescaped) > MAX_DEPTH)
  );
}

/** Whether a digit, a dot and no digit follow one another; dot by dot, since they are few. */
function hasDotEnd(text: string): boolean {
  for (let at = text.indexOf("."); at >= 0; at = text.indexOf(".", at + 1)) {
    if (!isDigitAt(text, at + 1) && isDigitAt(text, at - 1)) return true;
  }
  return false;
}

function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
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

/**
 * A value as Go's `json.MarshalIndent` with four spaces writes it: `<`, `>`, `&`, U+2028 and U+2029 are
 * escaped, nothing follows the last bracket.
 */
export function formatJson(value: unknown): string {
  // Separate replacements: one expression that looks at each character costs QuickJS forty thousand instructions.
  return JSON.stringify(value, null, 4)
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
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

const LONG_S = "\u017f";

/** A key as Go's decoder compares it: in lower case, with a long s as an s. `toLowerCase` already makes the Kelvin sign a k. */
export function foldKey(key: string): string {
  const lower = key.toLowerCase();
  return lower.includes(LONG_S) ? lower.replaceAll(LONG_S, "s") : lower;
}

/**
 * The member `name` of an object. Keys match as `foldKey` has them and the last one wins, as Go's decoder has it;
 * a member that is `null` counts as absent.
 *
 * @param at where an object is expected
 * @returns `undefined` where the member is absent or `null`
 * @throws CniError 999 where `at` is not an object
 */
export function memberInAnyCase(at: Located, name: string): Located | undefined {
  const found = memberOrNullInAnyCase(at, name);
  return found?.value === null ? undefined : found;
}

/**
 * Gives the value of a member as `memberInAnyCase` finds it, in a value of any form; `undefined` where that is no object, or
 * has no such member.
 */
export function valueInAnyCase(value: Json | undefined, name: string): Json | undefined {
  if (value === undefined || !isObject(value)) return undefined;
  return memberInAnyCase({ value, path: "" }, name)?.value;
}

/**
 * Finds a member as `memberInAnyCase` does, but one that is `null` is returned as such.
 *
 * @param name without a long s
 */
export function memberOrNullInAnyCase(at: Located, name: string): Located | undefined {
  at.members ??= membersOf(at);
  const value = at.members.get(name.toLowerCase());
  if (value === undefined) return undefined;
  return { value, path: memberPath(at.path, name) };
}

/**
 * The path of a member of an object, such as `ipam.ranges`.
 *
 * @param path of the object; empty for a whole document
 */
export function memberPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The last one of a key wins. */
function membersOf(at: Located): ReadonlyMap<string, Json> {
  const { value } = at;
  if (!isObject(value)) throw typeMismatch(at, "an object");
  const members = new Map<string, Json>();
  for (const key of Object.keys(value)) members.set(foldKey(key), value[key] ?? null);
  return members;
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
