/** Bytes that are not UTF-8, on Node.js. */

import fc from "fast-check";
import { test } from "tap";
import { decodedUtf8 } from "../../../src/system/node/text.ts";
import { allPairs, decoded, hostileBytes } from "../../harness/hostile-bytes.ts";

test("U+FFFD stands for each byte that begins no character", async (t) => {
  for (const [bytes, text] of [
    ['a\xb0"b', 'a\ufffd"b'],
    ['\xe2\x82"', '\ufffd\ufffd"'],
    ["\xed\xa0\x80", "\ufffd\ufffd\ufffd"],
    ["\xc3\xa9\xef\xbf\xbd\xff", "é\ufffd\ufffd"],
  ] as const) {
    t.equal(decodedUtf8(Buffer.from(bytes, "latin1")), text);
  }
  for (const bytes of [...hostileBytes, allPairs]) {
    t.equal(decodedUtf8(Buffer.from(bytes, "latin1")), decoded(bytes));
  }
});

test("any bytes become what they are character by character", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const latin1 = Buffer.from(bytes).toString("latin1");
      return decodedUtf8(Buffer.from(bytes)) === decoded(latin1);
    }),
  );
});

test("what is UTF-8 is what Node.js makes of it", async () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => decodedUtf8(Buffer.from(text)) === text),
  );
});
