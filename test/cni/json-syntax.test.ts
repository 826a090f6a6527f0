import fc from "fast-check";
import { test } from "tap";
import { syntaxError } from "../../src/cni/json-syntax.ts";
import { END, refusal } from "./invalid-texts.ts";

test("JSON has no syntax error", async (t) => {
  for (const text of [
    ...["0", "-0", "1.5e+10", "1E5", "1e-5", "true", "false", "null"],
    ...['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD800"', '"\x7f\u0080\u2028"'],
    ' \t\r\n{ "a" : [ 1 , { "b" : null } , [ ] , { } ] , "" : "" } \n',
  ]) {
    t.equal(syntaxError(text), "", encodeURI(text));
  }
});

for (const [what, text, error] of [
  ["10000 deep", "[".repeat(10_000) + "]".repeat(10_000), ""],
  ["10000 deep, without an end", "[".repeat(10_000), END],
  ["deeper", "[".repeat(10_001), refusal("[", "exceeded max depth")],
  ["deeper, as objects", '{"a":'.repeat(10_001), refusal("{", "exceeded max depth")],
  ["one after the other", "[{}],".repeat(20_000), refusal(",", "after top-level value")],
] as const) {
  test(`brackets that are nested: ${what}`, async (t) => {
    t.equal(syntaxError(text), error);
  });
}

/** Whether JavaScript's own parser takes the text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("there is a syntax error exactly where JavaScript's own parser fails", async (t) => {
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
});

test("a document without one of its characters has an error exactly where it is no longer JSON", async (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (document, position) => {
      const at = position % (document.length + 1);
      const text = document.slice(0, at) + document.slice(at + 1);
      return (syntaxError(text) === "") === isJson(text);
    }),
    { numRuns: 500 },
  );
  t.pass();
});

test("the message stays the same when the engine optimises the scanner", async (t) => {
  const text = `${'{"a":'.repeat(10_001)}1${"}".repeat(10_001)}`;

  const sentences = new Set(Array.from({ length: 20 }, () => syntaxError(text)));

  t.same([...sentences], ["invalid character '{' exceeded max depth"]);
});
