import fc from "fast-check";
import { test } from "tap";
import { findSyntaxError, MAX_DEPTH, syntaxError } from "../../src/cni/json-syntax.ts";

const END = "unexpected end of JSON input";

function refusal(character: string, context: string): string {
  return `invalid character '${character}' ${context}`;
}

/** The messages of the reference for these texts. */
const cases: readonly (readonly [text: string, expected: string])[] = [
  // Nothing, or not enough.
  ["", END],
  [" \t\r\n", END],
  ["{", END],
  ["[", END],
  ['{"a"', END],
  ['{"a":', END],
  ['{"a":1', END],
  ['{"a":1,', END],
  ["[1", END],
  ["[1,", END],
  ['"', END],
  ['"abc', END],
  ['{"a":[{"b":"c"}', END],
  // Where a value should begin.
  ["hello", refusal("h", "looking for beginning of value")],
  ["}", refusal("}", "looking for beginning of value")],
  ["]", refusal("]", "looking for beginning of value")],
  [",", refusal(",", "looking for beginning of value")],
  ["'a'", refusal("\\'", "looking for beginning of value")],
  ["/* */{}", refusal("/", "looking for beginning of value")],
  ["+1", refusal("+", "looking for beginning of value")],
  [".5", refusal(".", "looking for beginning of value")],
  ["NaN", refusal("N", "looking for beginning of value")],
  ["Infinity", refusal("I", "looking for beginning of value")],
  ["True", refusal("T", "looking for beginning of value")],
  ["undefined", refusal("u", "looking for beginning of value")],
  ["[,1]", refusal(",", "looking for beginning of value")],
  ["[1,]", refusal("]", "looking for beginning of value")],
  ['{"a":}', refusal("}", "looking for beginning of value")],
  ['{"a":,}', refusal(",", "looking for beginning of value")],
  ["\0", refusal("\\x00", "looking for beginning of value")],
  ["\v{}", refusal("\\v", "looking for beginning of value")],
  ["\f{}", refusal("\\f", "looking for beginning of value")],
  ["\x7f", refusal("\\x7f", "looking for beginning of value")],
  // Of a character beyond ASCII the first byte is named.
  ["\ufeff{}", refusal("ï", "looking for beginning of value")],
  ["\u00a0{}", refusal("Â", "looking for beginning of value")],
  ["é", refusal("Ã", "looking for beginning of value")],
  ["€", refusal("â", "looking for beginning of value")],
  ["😀", refusal("ð", "looking for beginning of value")],
  // Where a key should begin or end.
  ["{{}", refusal("{", "looking for beginning of object key string")],
  ["{a:1}", refusal("a", "looking for beginning of object key string")],
  ["{'a':1}", refusal("\\'", "looking for beginning of object key string")],
  ["{1:1}", refusal("1", "looking for beginning of object key string")],
  ["{,}", refusal(",", "looking for beginning of object key string")],
  ['{"a":1,}', refusal("}", "looking for beginning of object key string")],
  ['{"a":1,,', refusal(",", "looking for beginning of object key string")],
  ['{"a" 1}', refusal("1", "after object key")],
  ['{"a"}', refusal("}", "after object key")],
  ['{"a"=1}', refusal("=", "after object key")],
  // After a value.
  ['{"a":1 /* */}', refusal("/", "after object key:value pair")],
  ['{"a":01}', refusal("1", "after object key:value pair")],
  ['{"a":1]', refusal("]", "after object key:value pair")],
  ['{"a":1 "b":2}', refusal('"', "after object key:value pair")],
  ['{"a":"b" "c"}', refusal('"', "after object key:value pair")],
  ['{"a":0x10}', refusal("x", "after object key:value pair")],
  ["[1 2]", refusal("2", "after array element")],
  ["[1}", refusal("}", "after array element")],
  ["[01]", refusal("1", "after array element")],
  ["[truex]", refusal("x", "after array element")],
  ["{} x", refusal("x", "after top-level value")],
  ["{}{}", refusal("{", "after top-level value")],
  ["{}}", refusal("}", "after top-level value")],
  ["1 2", refusal("2", "after top-level value")],
  ["01", refusal("1", "after top-level value")],
  ["nullnull", refusal("n", "after top-level value")],
  ["{}\0", refusal("\\x00", "after top-level value")],
  // In a string.
  ['"a\tb"', refusal("\\t", "in string literal")],
  ['"a\nb"', refusal("\\n", "in string literal")],
  ['"\0"', refusal("\\x00", "in string literal")],
  ['"\x1f"', refusal("\\x1f", "in string literal")],
  ['{"a\n":1}', refusal("\\n", "in string literal")],
  ['"\\x41"', refusal("x", "in string escape code")],
  ['"\\\'"', refusal("\\'", "in string escape code")],
  ['"\\0"', refusal("0", "in string escape code")],
  ['"\\ "', refusal(" ", "in string escape code")],
  ['"\\U0041"', refusal("U", "in string escape code")],
  ['"\\u12g4"', refusal("g", "in \\u hexadecimal character escape")],
  ['"\\u12"', refusal('"', "in \\u hexadecimal character escape")],
  ['"\\u{41}"', refusal("{", "in \\u hexadecimal character escape")],
  // In a number.
  ["-a", refusal("a", "in numeric literal")],
  ["--1", refusal("-", "in numeric literal")],
  ["-Infinity", refusal("I", "in numeric literal")],
  ["[-]", refusal("]", "in numeric literal")],
  ["[1.]", refusal("]", "after decimal point in numeric literal")],
  ["1..5", refusal(".", "after decimal point in numeric literal")],
  ["1.e5", refusal("e", "after decimal point in numeric literal")],
  ["[1e]", refusal("]", "in exponent of numeric literal")],
  ["1e+-5", refusal("-", "in exponent of numeric literal")],
  ["1Ex", refusal("x", "in exponent of numeric literal")],
  // In a word.
  ['{"a":tru}', refusal("}", "in literal true (expecting 'e')")],
  ["tRUE", refusal("R", "in literal true (expecting 'r')")],
  ["falsy", refusal("y", "in literal false (expecting 'e')")],
  ["fAlse", refusal("A", "in literal false (expecting 'a')")],
  ["nil", refusal("i", "in literal null (expecting 'u')")],
  ["nul]", refusal("]", "in literal null (expecting 'l')")],
];

/** At the end Go's scanner reads one more blank, which is an error here. */
const endsWithinAWord: readonly (readonly [text: string, expected: string])[] = [
  ["t", refusal(" ", "in literal true (expecting 'r')")],
  ["tru", refusal(" ", "in literal true (expecting 'e')")],
  ["fals", refusal(" ", "in literal false (expecting 'e')")],
  ['{"a":nul', refusal(" ", "in literal null (expecting 'l')")],
  ["-", refusal(" ", "in numeric literal")],
  ["[-", refusal(" ", "in numeric literal")],
  ["1.", refusal(" ", "after decimal point in numeric literal")],
  ["[1e", refusal(" ", "in exponent of numeric literal")],
  ["-1.5e+", refusal(" ", "in exponent of numeric literal")],
  ['"\\', refusal(" ", "in string escape code")],
  ['"\\u', refusal(" ", "in \\u hexadecimal character escape")],
  ['{"a":"\\u12', refusal(" ", "in \\u hexadecimal character escape")],
];

test("the first error is reported with Go's message", (t) => {
  for (const [text, expected] of cases) t.equal(syntaxError(text), expected, JSON.stringify(text));
  t.end();
});

test("a text that ends in a literal, a number or an escape is reported as a blank there", (t) => {
  for (const [text, expected] of endsWithinAWord) {
    t.equal(syntaxError(text), expected, JSON.stringify(text));
  }
  t.end();
});

test("JSON has no syntax error", (t) => {
  for (const text of [
    "{}",
    "[]",
    "0",
    "-0",
    "1.5e+10",
    "1E5",
    "1e-5",
    '""',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD800"',
    '"\x7f\u0080\u2028"',
    "true",
    "false",
    "null",
    ' \t\r\n{ "a" : [ 1 , { "b" : null } , [ ] , { } ] , "" : "" } \n',
  ]) {
    t.equal(syntaxError(text), "", encodeURI(text));
  }
  t.end();
});

test("brackets may be nested 10000 deep, but not deeper", (t) => {
  t.equal(MAX_DEPTH, 10_000);
  t.equal(syntaxError("[".repeat(10_000) + "]".repeat(10_000)), "");
  t.equal(syntaxError("[".repeat(10_000)), END);
  t.equal(syntaxError("[".repeat(10_001)), refusal("[", "exceeded max depth"));
  t.equal(syntaxError('{"a":'.repeat(10_001)), refusal("{", "exceeded max depth"));
  t.equal(syntaxError("[{}],".repeat(20_000)), refusal(",", "after top-level value"));
  t.end();
});

/** Whether JavaScript's own parser takes the text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("there is a syntax error exactly where JavaScript's own parser fails", (t) => {
  const pieces = fc.constantFrom(
    ...'{}[],:"\\tfn-+.e01u /\t\n',
    "true",
    "false",
    "null",
    '"a"',
    "\\u00e9",
    "é",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      return (syntaxError(text) === "") === isJson(text);
    }),
    { numRuns: 5000 },
  );
  t.pass();
  t.end();
});

test("a document without one of its characters has an error exactly where it is no longer JSON", (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (document, position) => {
      const at = position % (document.length + 1);
      const text = document.slice(0, at) + document.slice(at + 1);
      return (syntaxError(text) === "") === isJson(text);
    }),
    { numRuns: 500 },
  );
  t.pass();
  t.end();
});

test("the offset is that of the character that is named, or the end", (t) => {
  for (const [text, offset] of [
    ["hello", 0],
    ['{"a":1,}', 7],
    ['{\n  "a": [1 2]\n}', 12],
    ['{"a":1', 6],
    ["tru", 3],
    ["{} x", 3],
  ] as const) {
    t.equal(findSyntaxError(text)?.offset, offset, text);
  }
  t.equal(findSyntaxError('{"a":1}'), undefined);
  t.end();
});

test("the message stays the same when the engine optimises the scanner", (t) => {
  const text = `${'{"a":'.repeat(10_001)}1${"}".repeat(10_001)}`;

  const sentences = new Set(Array.from({ length: 20 }, () => syntaxError(text)));

  t.same([...sentences], ["invalid character '{' exceeded max depth"]);
  t.end();
});
