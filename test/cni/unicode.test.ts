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
  t.equal(trimSpace(" \t\n"), "");
  t.equal(trimSpace("\u0085\u00a0c1\r\neth0\u2003\v"), "c1\r\neth0");
  t.equal(trimSpace("\ufeffa"), "\ufeffa");
});

const someText = fc.string({
  unit: fc.constantFrom("a", "é", "😀", " ", "\n", "\u0085", "\u3000", "\ufeff"),
});

test("words are separated by white space, and trimming loses none of them", async (t) => {
  t.strictSame(words(" a\u00a0b\u2003c\u0085d\re "), ["a", "b", "c", "d", "e"]);
  t.strictSame(words("a\ufeffb\0"), ["a\ufeffb\0"]);
  fc.assert(
    fc.property(someText, (text) => {
      const found = words(text);
      return (
        found.every((word) => word !== "" && !/\p{White_Space}/u.test(word)) &&
        found.join("|") === words(trimSpace(text)).join("|")
      );
    }),
  );
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
