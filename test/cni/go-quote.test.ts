import { test } from "tap";
import { goQuote, goQuoteCharacter } from "../../src/cni/go-quote.ts";

test("text is quoted as Go's %q does it", async (t) => {
  const cases: readonly (readonly [text: string, quoted: string])[] = [
    ["", '""'],
    ["IP=10.1.2.3", '"IP=10.1.2.3"'],
    ['a"b', '"a\\"b"'],
    ["it's", `"it's"`],
    ["a\\b", '"a\\\\b"'],
    ["\x07\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'],
    ["\0\x01\x1b\x1f\x7f", '"\\x00\\x01\\x1b\\x1f\\x7f"'],
    ["\u0080\u0085\u009f", '"\\u0080\\u0085\\u009f"'],
    ["\u00a0", '"\\u00a0"'],
    ["\u00ad", '"\\u00ad"'],
    ["é€😀", '"é€😀"'],
    ["\u200b\u2028\u3000\ufeff", '"\\u200b\\u2028\\u3000\\ufeff"'],
    ["\ue000\uffff", '"\\ue000\\uffff"'],
    ["\u{e0001}\u{10ffff}", '"\\U000e0001\\U0010ffff"'],
    ["<&>", '"<&>"'],
  ];
  for (const [text, quoted] of cases) t.equal(goQuote(text), quoted, quoted);
});

test("one character is quoted as Go's JSON decoder does it", async (t) => {
  const cases: readonly (readonly [character: string, quoted: string])[] = [
    ["x", "'x'"],
    ["'", "'\\''"],
    ['"', `'"'`],
    ["\\", "'\\\\'"],
    ["\t", "'\\t'"],
    ["\0", "'\\x00'"],
    ["ï", "'ï'"],
    ["\u0080", "'\\u0080'"],
  ];
  for (const [character, quoted] of cases) t.equal(goQuoteCharacter(character), quoted, quoted);
});
