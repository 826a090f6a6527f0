/** What Go's `encoding/json` says of a text that is not JSON. Runs only when the engine's own parser has refused. */

import { goQuoteCharacter } from "./go-quote.ts";

/** The deepest nesting that Go's decoder accepts. */
export const MAX_DEPTH = 10_000;

const END = "unexpected end of JSON input";

// By pattern, since there may be megabytes of each.
const spaces = /[ \t\r\n]*/y;
const digitRun = /[0-9]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a string cannot hold.
const stringContent = /[^"\\\u0000-\u001f]*/y;

/** Thrown inside the scanner only; carries the finished sentence. */
class Refusal extends Error {}

/**
 * The first thing wrong with `text`, in Go's words; empty where nothing is.
 *
 * @example syntaxError("hello") // invalid character 'h' looking for beginning of value
 */
export function syntaxError(text: string): string {
  try {
    scan(text);
    return "";
  } catch (refusal) {
    if (refusal instanceof Refusal) return refusal.message;
    throw refusal;
  }
}

function scan(text: string): void {
  let at = 0;
  // One entry an open bracket; a list instead of recursion, so that depth costs no stack.
  const open: ("{" | "[")[] = [];

  const refuse = (context: string): never => {
    if (at >= text.length) {
      // Go's scanner gets one blank after the end: inside a word, a number or an escape it names that.
      const isInside = /^in (?:literal|numeric|exponent|string escape|\\u)|^after decimal/.test(
        context,
      );
      throw new Refusal(isInside ? `invalid character ' ' ${context}` : END);
    }
    throw new Refusal(`invalid character ${goQuoteCharacter(firstByte(text, at))} ${context}`);
  };
  /** Goes on behind what `run` matches here, be it nothing. */
  const skip = (run: RegExp): void => {
    run.lastIndex = at;
    run.test(text);
    at = run.lastIndex;
  };
  const skipSpace = (): void => skip(spaces);
  const digits = (context: string): void => {
    if (!isDigit(text.charAt(at))) refuse(context);
    skip(digitRun);
  };
  const string = (): void => {
    for (at++; ; at++) {
      skip(stringContent);
      if (text.charAt(at) === '"') break;
      if (at >= text.length || text.charCodeAt(at) < 0x20) refuse("in string literal");
      if (text.charAt(at) !== "\\") continue;
      at++;
      if (at >= text.length || !'"\\/bfnrtu'.includes(text.charAt(at)))
        refuse("in string escape code");
      if (text.charAt(at) !== "u") continue;
      for (let count = 0; count < 4; count++) {
        at++;
        if (!/[0-9a-f]/i.test(text.charAt(at))) refuse("in \\u hexadecimal character escape");
      }
    }
    at++;
  };
  const number = (): void => {
    if (text.charAt(at) === "-") at++;
    if (text.charAt(at) === "0") at++;
    else digits("in numeric literal");
    if (text.charAt(at) === ".") {
      at++;
      digits("after decimal point in numeric literal");
    }
    if ("eE".includes(text.charAt(at) || "-")) {
      at++;
      if ("+-".includes(text.charAt(at) || "0")) at++;
      digits("in exponent of numeric literal");
    }
  };
  const literal = (word: string): void => {
    for (let index = 1; index < word.length; index++) {
      at++;
      const expected = word.charAt(index);
      if (text.charAt(at) !== expected) refuse(`in literal ${word} (expecting '${expected}')`);
    }
    at++;
  };
  const key = (): void => {
    skipSpace();
    if (text.charAt(at) !== '"') refuse("looking for beginning of object key string");
    string();
    skipSpace();
    if (text.charAt(at) !== ":") refuse("after object key");
    at++;
  };
  /** Opens brackets until a value without further ones was read. */
  const value = (): void => {
    for (;;) {
      skipSpace();
      const first = text.charAt(at);
      if (first === "{" || first === "[") {
        if (open.length === MAX_DEPTH) refuse("exceeded max depth");
        open.push(first);
        at++;
        skipSpace();
        if (text.charAt(at) === (first === "{" ? "}" : "]")) return;
        if (first === "{") key();
        continue;
      }
      if (first === '"') string();
      else if (first === "-" || isDigit(first)) number();
      else if (first === "t") literal("true");
      else if (first === "f") literal("false");
      else if (first === "n") literal("null");
      else refuse("looking for beginning of value");
      return;
    }
  };

  value();
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    skipSpace();
    const next = text.charAt(at);
    if (next === (inner === "{" ? "}" : "]")) {
      open.pop();
      at++;
    } else if (next === ",") {
      at++;
      if (inner === "{") key();
      value();
    } else {
      refuse(inner === "{" ? "after object key:value pair" : "after array element");
    }
  }
  skipSpace();
  if (at < text.length) refuse("after top-level value");
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9" && character.length === 1;
}

/** Go reads bytes: of a character beyond ASCII it names the first byte of its UTF-8 form. */
function firstByte(text: string, at: number): string {
  const code = text.codePointAt(at) ?? 0;
  if (code < 0x80) return String.fromCharCode(code);
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6));
  if (code < 0x10000) return String.fromCharCode(0xe0 | (code >> 12));
  return String.fromCharCode(0xf0 | (code >> 18));
}
