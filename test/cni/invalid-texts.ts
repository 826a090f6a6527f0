/** What is not JSON. */

export const END = "unexpected end of JSON input";

/** A message about one character. */
export function refusal(character: string, context: string): string {
  return `invalid character '${character}' ${context}`;
}

/** Texts that are not JSON, each with the message of Go's decoder. */
export const invalidTexts: readonly (readonly [text: string, expected: string])[] = [
  // Nothing, or not enough.
  ["", END],
  [" \t\r\n", END],
  ["{", END],
  ['{"a":', END],
  ['{"a":1,', END],
  ["[1", END],
  ['"abc', END],
  ['{"a":[{"b":"c"}', END],
  // Where a value should begin.
  ["hello", refusal("h", "looking for beginning of value")],
  ["}", refusal("}", "looking for beginning of value")],
  [",", refusal(",", "looking for beginning of value")],
  ["'a'", refusal("\\'", "looking for beginning of value")],
  ["+1", refusal("+", "looking for beginning of value")],
  ["NaN", refusal("N", "looking for beginning of value")],
  ["[1,]", refusal("]", "looking for beginning of value")],
  ['{"a":}', refusal("}", "looking for beginning of value")],
  ["\0", refusal("\\x00", "looking for beginning of value")],
  ["\v{}", refusal("\\v", "looking for beginning of value")],
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
  ['{"a":1,}', refusal("}", "looking for beginning of object key string")],
  ['{"a" 1}', refusal("1", "after object key")],
  ['{"a"}', refusal("}", "after object key")],
  // After a value.
  ['{"a":1 /* */}', refusal("/", "after object key:value pair")],
  ['{"a":01}', refusal("1", "after object key:value pair")],
  ['{"a":1]', refusal("]", "after object key:value pair")],
  ['{"a":1 "b":2}', refusal('"', "after object key:value pair")],
  ["[1 2]", refusal("2", "after array element")],
  ["[1}", refusal("}", "after array element")],
  ["[-01]", refusal("1", "after array element")],
  ["[truex]", refusal("x", "after array element")],
  ["{} x", refusal("x", "after top-level value")],
  ["01", refusal("1", "after top-level value")],
  ["nullnull", refusal("n", "after top-level value")],
  ["{}\0", refusal("\\x00", "after top-level value")],
  // In a string.
  ['"a\tb"', refusal("\\t", "in string literal")],
  ['"a\nb"', refusal("\\n", "in string literal")],
  ['"\x1f"', refusal("\\x1f", "in string literal")],
  ['"\\x41"', refusal("x", "in string escape code")],
  ['"\\\'"', refusal("\\'", "in string escape code")],
  ['"\\0"', refusal("0", "in string escape code")],
  ['"\\u12g4"', refusal("g", "in \\u hexadecimal character escape")],
  ['"\\u12"', refusal('"', "in \\u hexadecimal character escape")],
  // In a number.
  ["-a", refusal("a", "in numeric literal")],
  ["-Infinity", refusal("I", "in numeric literal")],
  ["[1.]", refusal("]", "after decimal point in numeric literal")],
  ["1.e5", refusal("e", "after decimal point in numeric literal")],
  ["[1e]", refusal("]", "in exponent of numeric literal")],
  ["1e+-5", refusal("-", "in exponent of numeric literal")],
  // In a word.
  ['{"a":tru}', refusal("}", "in literal true (expecting 'e')")],
  ["tRUE", refusal("R", "in literal true (expecting 'r')")],
  ["falsy", refusal("y", "in literal false (expecting 'e')")],
  ["nil", refusal("i", "in literal null (expecting 'u')")],
  // Another encoding.
  ['{\0"\0a\0"\0:\0\x31\0}\0', refusal("\\x00", "looking for beginning of object key string")],
  // At the end Go's scanner reads one more blank, which is an error within a word, a number or an escape.
  ["tru", refusal(" ", "in literal true (expecting 'e')")],
  ["fals", refusal(" ", "in literal false (expecting 'e')")],
  ['{"a":nul', refusal(" ", "in literal null (expecting 'l')")],
  ["-", refusal(" ", "in numeric literal")],
  ["1.", refusal(" ", "after decimal point in numeric literal")],
  ["[1e", refusal(" ", "in exponent of numeric literal")],
  ["-1.5e+", refusal(" ", "in exponent of numeric literal")],
  ['"\\', refusal(" ", "in string escape code")],
  ['"\\u', refusal(" ", "in \\u hexadecimal character escape")],
  ['{"a":"\\u12', refusal(" ", "in \\u hexadecimal character escape")],
];
