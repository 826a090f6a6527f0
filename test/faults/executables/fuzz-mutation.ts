/** Changes to the bytes of a text, as a defective or malicious writer makes them. */

import fc from "fast-check";

/** One change; places are counted round the text. */
export interface Mutation {
  readonly kind: "flip" | "remove" | "repeat" | "insert";
  readonly at: number;
  readonly length: number;
  /** For `insert`, as Latin-1. */
  readonly bytes: string;
}

/** No slash and no dot among them, so that no mutation leads a path elsewhere. */
const dictionary = [
  ...["{", "}", "[", "]", '"', ",", ":", "\\", "'", " "],
  ...["null", "true", "-", "1", "0", "e9", "1e999", "9007199254740993", "\\u0000", "\\ud800"],
  ...["\0", "\n", "\x7f", "\xff", "\xc3", "\xed\xa0\x80", "\xef\xbb\xbf", "\xf4\x90\x80\x80"],
  ...['"ipam":null,', '"name":"net",', '"":0,', "[[[[[[[[", "}}"],
];

/** A few changes. */
export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("flip", "remove", "repeat", "insert", "insert"),
    at: fc.nat(100_000),
    length: fc.integer({ min: 1, max: 12 }),
    bytes: fc.constantFrom(...dictionary),
  }),
  { minLength: 1, maxLength: 3 },
);

/** The text with all changes, one after the other. */
export function mutated(text: string, changes: readonly Mutation[]): Buffer {
  let bytes = Buffer.from(text);
  for (const { kind, at, length, bytes: inserted } of changes) {
    const start = at % (bytes.length + 1);
    const before = bytes.subarray(0, start);
    const block = bytes.subarray(start, start + length);
    const after = bytes.subarray(start + length);
    switch (kind) {
      case "flip":
        bytes = Buffer.concat([before, block.map((byte) => byte ^ (1 << (at % 8))), after]);
        break;
      case "remove":
        bytes = Buffer.concat([before, after]);
        break;
      case "repeat":
        bytes = Buffer.concat([before, block, block, after]);
        break;
      case "insert":
        bytes = Buffer.concat([before, Buffer.from(inserted, "latin1"), block, after]);
        break;
    }
  }
  return bytes;
}
