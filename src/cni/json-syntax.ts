/** The errors of Go's `encoding/json` for text that is not JSON. Runs only after the engine's own parser failed. */

import { goQuoteCharacter } from "./go-quote.ts";

/** The deepest nesting that Go's decoder accepts. */
export const MAX_DEPTH = 10_000;

const END = "unexpected end of JSON input";

// Patterns take these in one step: there may be megabytes of each.
const spaces = /[ \t\r\n]*/y;
const digitRun = /[0-9]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a string cannot hold.
const stringContent = /[^"\\\u0000-\u001f]*/y;

/** Thrown inside the scanner only, with the complete message. */
class ScanError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/**
 * The first thing wrong with `text`, in Go's words; empty where nothing is.
 *
 * @example syntaxError("hello") // invalid character 'h' looking for beginning of value
 */
export function syntaxError(text: string): string {
  return findSyntaxError(text)?.message ?? "";
}

/**
 * The first thing wrong with bytes, each a character of the text, as `syntaxError` has it: Go names a byte, also one that is no
 * UTF-8.
 *
 * @example syntaxErrorInBytes("\xff") // invalid character 'ÿ' looking for beginning of value
 */
export function syntaxErrorInBytes(bytes: string): string {
  return findSyntaxError(bytes, (at) => bytes.charAt(at))?.message ?? "";
}

/**
 * Finds a syntax error as `syntaxError` does, with its place.
 *
 * @param byteAt the byte at an offset, as a character; by default the first one of that character's UTF-8 form
 * @returns the offset in UTF-16 code units; `undefined` where nothing is wrong
 */
export function findSyntaxError(
  text: string,
  byteAt = (at: number): string => firstByte(text, at),
): { readonly message: string; readonly offset: number } | undefined {
  try {
    scan(text, byteAt);
    return undefined;
  } catch (error) {
    if (error instanceof ScanError) return error;
    throw error;
  }
}

/**
 * The place of a character for people, such as `line 3, column 12`; a column is a character, not a byte.
 *
 * @param offset in UTF-16 code units
 */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${[...(before.at(-1) ?? "")].length + 1}`;
}

function scan(text: string, byteAt: (at: number) => string): void {
  // A property, since V8 14 may lose a change of a variable that several functions share.
  const place = { at: 0 };
  // One entry for each open bracket; a list instead of recursion, so that nesting takes no stack.
  const open: ("{" | "[")[] = [];

  const fail = (context: string): never => {
    if (place.at >= text.length) {
      // Go's scanner gets one blank after the end: inside a word, a number or an escape it names that.
      const isInside = /^in (?:literal|numeric|exponent|string escape|\\u)|^after decimal/.test(
        context,
      );
      throw new ScanError(isInside ? `invalid character ' ' ${context}` : END, text.length);
    }
    throw new ScanError(
      `invalid character ${goQuoteCharacter(byteAt(place.at))} ${context}`,
      place.at,
    );
  };
  /** Moves past what `run` matches here, which may be nothing. */
  const skip = (run: RegExp): void => {
    run.lastIndex = place.at;
    run.test(text);
    place.at = run.lastIndex;
  };
  const skipSpace = (): void => skip(spaces);
  const digits = (context: string): void => {
    if (!isDigit(text.charAt(place.at))) fail(context);
    skip(digitRun);
  };
  const string = (): void => {
    for (place.at++; ; place.at++) {
      skip(stringContent);
      if (text.charAt(place.at) === '"') break;
      if (place.at >= text.length || text.charCodeAt(place.at) < 0x20) fail("in string literal");
      if (text.charAt(place.at) !== "\\") continue;
      place.at++;
      if (place.at >= text.length || !'"\\/bfnrtu'.includes(text.charAt(place.at)))
        fail("in string escape code");
      if (text.charAt(place.at) !== "u") continue;
      for (let count = 0; count < 4; count++) {
        place.at++;
        if (!/[0-9a-f]/i.test(text.charAt(place.at))) fail("in \\u hexadecimal character escape");
      }
    }
    place.at++;
  };
  const number = (): void => {
    if (text.charAt(place.at) === "-") place.at++;
    if (text.charAt(place.at) === "0") place.at++;
    else digits("in numeric literal");
    if (text.charAt(place.at) === ".") {
      place.at++;
      digits("after decimal point in numeric literal");
    }
    if ("eE".includes(text.charAt(place.at) || "-")) {
      place.at++;
      if ("+-".includes(text.charAt(place.at) || "0")) place.at++;
      digits("in exponent of numeric literal");
    }
  };
  const literal = (word: string): void => {
    for (let index = 1; index < word.length; index++) {
      place.at++;
      const expected = word.charAt(index);
      if (text.charAt(place.at) !== expected) fail(`in literal ${word} (expecting '${expected}')`);
    }
    place.at++;
  };
  const key = (): void => {
    skipSpace();
    if (text.charAt(place.at) !== '"') fail("looking for beginning of object key string");
    string();
    skipSpace();
    if (text.charAt(place.at) !== ":") fail("after object key");
    place.at++;
  };
  /** Reads opening brackets, then the first value that opens none. */
  const value = (): void => {
    for (;;) {
      skipSpace();
      const first = text.charAt(place.at);
      if (first === "{" || first === "[") {
        if (open.length === MAX_DEPTH) fail("exceeded max depth");
        open.push(first);
        place.at++;
        skipSpace();
        if (text.charAt(place.at) === (first === "{" ? "}" : "]")) return;
        if (first === "{") key();
        continue;
      }
      if (first === '"') string();
      else if (first === "-" || isDigit(first)) number();
      else if (first === "t") literal("true");
      else if (first === "f") literal("false");
      else if (first === "n") literal("null");
      else fail("looking for beginning of value");
      return;
    }
  };

  value();
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    skipSpace();
    const next = text.charAt(place.at);
    if (next === (inner === "{" ? "}" : "]")) {
      open.pop();
      place.at++;
    } else if (next === ",") {
      place.at++;
      if (inner === "{") key();
      value();
    } else {
      fail(inner === "{" ? "after object key:value pair" : "after array element");
    }
  }
  skipSpace();
  if (place.at < text.length) fail("after top-level value");
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9" && character.length === 1;
}

/** The first byte of a character's UTF-8 form, which Go names: it reads bytes. */
function firstByte(text: string, at: number): string {
  const code = text.codePointAt(at) ?? 0;
  if (code < 0x80) return String.fromCharCode(code);
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6));
  if (code < 0x10000) return String.fromCharCode(0xe0 | (code >> 12));
  return String.fromCharCode(0xf0 | (code >> 18));
}
