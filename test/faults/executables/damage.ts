/** Changes to the bytes of a text, as a defective or malicious writer makes them. */

import fc from "fast-check";

/** One change; places are counted round the text. */
interface Damage {
  readonly kind: "flip" | "remove" | "repeat" | "insert";
  readonly at: number;
  readonly length: number;
  /** For `insert`, as Latin-1. */
  readonly bytes: string;
}

/** No slash and no dot among them, so that no damage leads a path elsewhere. */
const dictionary = [
  ...["{", "}", "[", "]", '"', ",", ":", "\\", "'", " "],
  ...["null", "true", "-", "1", "0", "e9", "1e999", "9007199254740993", "\\u0000", "\\ud800"],
  ...["\0", "\n", "\x7f", "\xff", "\xc3", "\xed\xa0\x80", "\xef\xbb\xbf", "\xf4\x90\x80\x80"],
  ...['"ipam":null,', '"name":"net",', '"":0,', "[[[[[[[[", "}}"],
];

/** A few changes. */
export const damages: fc.Arbitrary<readonly Damage[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("flip", "remove", "repeat", "insert", "insert"),
    at: fc.nat(100_000),
    length: fc.integer({ min: 1, max: 12 }),
    bytes: fc.constantFrom(...dictionary),
  }),
  { minLength: 1, maxLength: 3 },
);

/** The text with all changes, one after the other. */
export function damaged(text: string, changes: readonly Damage[]): Buffer {
  let bytes = Buffer.from(text);
  for (const { kind, at, length, bytes: inserted } of changes) {
    const start = at % (bytes.length + 1);
    const block = bytes.subarray(start, start + length);
    const instead = {
      flip: [block.map((byte) => byte ^ (1 << (at % 8)))],
      remove: [],
      repeat: [block, block],
      insert: [Buffer.from(inserted, "latin1"), block],
    }[kind];
    bytes = Buffer.concat([bytes.subarray(0, start), ...instead, bytes.subarray(start + length)]);
  }
  return bytes;
}
