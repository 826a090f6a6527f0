import { test } from "tap";
import { textOfBase64 } from "../../../../src/operator/alive/cache/base64.ts";

test("the text of any length, with and without padding", async (t) => {
  for (const text of ["", "a", "ab", "abc", '{"name":"größe"}', "\u{1f600}?>~"]) {
    const encoded = Buffer.from(text).toString("base64");
    t.equal(textOfBase64(encoded), text);
    t.equal(textOfBase64(encoded.replace(/=+$/, "")), text);
  }
});

test("what is no base64, or not UTF-8, is an error", async (t) => {
  t.throws(() => textOfBase64("a b="), SyntaxError);
  t.throws(() => textOfBase64("/w=="), URIError);
});
