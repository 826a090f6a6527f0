import fc from "fast-check";
import { test } from "tap";
import { isSpace, trimSpace, utf8Length, words } from "../../src/cni/unicode.ts";
import { anyText } from "../harness/any-text.ts";

test("white space is Unicode's White_Space", async (t) => {
  for (let code = 0; code < 0x10000; code++) {
    const expected = /\p{White_Space}/u.test(String.fromCharCode(code));
    if (isSpace(code) !== expected) t.fail(`U+${code.toString(16)} should be ${expected}`);
  }
  t.equal(isSpace(0x85), true, "unlike in JavaScript");
  t.equal(isSpace(0xfeff), false, "unlike in JavaScript");
});

test("text is trimmed at both ends only", async (t) => {
  const cases: readonly (readonly [text: string, trimmed: string])[] = [
    ["", ""],
    [" \t\n", ""],
    ["a", "a"],
    ["  c1\r\neth0\n", "c1\r\neth0"],
    ["\u0085\u00a0a b\u2003\v", "a b"],
    ["\ufeffa", "\ufeffa"],
  ];
  for (const [text, trimmed] of cases) t.equal(trimSpace(text), trimmed, JSON.stringify(text));
});

test("words are separated by white space", async (t) => {
  const cases: readonly (readonly [text: string, words: readonly string[]])[] = [
    ["", []],
    ["  ", []],
    ["a", ["a"]],
    [" a  b\tc ", ["a", "b", "c"]],
    ["a\u00a0b\u2003c\u0085d\re", ["a", "b", "c", "d", "e"]],
    ["a\ufeffb", ["a\ufeffb"]],
    ["a\0b", ["a\0b"]],
  ];
  for (const [text, expected] of cases) t.strictSame(words(text), expected, JSON.stringify(text));
});

const someText = fc.string({
  unit: fc.constantFrom("a", "é", "😀", " ", "\n", "\u0085", "\u3000", "\ufeff"),
});

test("words are never empty and hold no white space, and trimming loses none of them", async (t) => {
  fc.assert(
    fc.property(someText, (text) => {
      const found = words(text);
      return (
        found.every((word) => word !== "" && !/\p{White_Space}/u.test(word)) &&
        found.join("|") === words(trimSpace(text)).join("|")
      );
    }),
  );
  t.pass();
});

test("the length in bytes is that of UTF-8", async (t) => {
  const encoder = new TextEncoder();
  fc.assert(
    fc.property(anyText, (text) => {
      return utf8Length(text) === encoder.encode(text).length;
    }),
  );
  t.equal(utf8Length("aé€😀"), 1 + 2 + 3 + 4);
});
