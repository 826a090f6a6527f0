/** What is said of a configuration that is not JSON: the place, Go's words, and what is there that is not ASCII. */

import { test } from "tap";
import { parseJson } from "../../../src/cni/json.ts";
import { whyInvalid } from "../../../src/operator/configured/invalid-json.ts";

const texts: Readonly<Record<string, readonly [text: string, reason: string]>> = {
  "a mistake in the third line": [
    '{\n  "name": "net",\n  "type" "bridge"\n}',
    "line 3, column 10: invalid character '\"' after object key",
  ],
  "a file that is cut off": ['{\n  "name": "n', "line 2, column 13: unexpected end of JSON input"],
  "an empty file": ["", "line 1, column 1: unexpected end of JSON input"],
  "a byte order mark": [
    '\ufeff{"name": "net"}',
    "line 1, column 1: invalid character 'ï' looking for beginning of value; it is U+FEFF",
  ],
  "typographic quotes": [
    "{\n“name”: “net”}",
    "line 2, column 1: invalid character 'â' looking for beginning of object key string; it is U+201C",
  ],
  "a no-break space": [
    '{\u00a0"name": "net"}',
    "line 1, column 2: invalid character 'Â' looking for beginning of object key string; it is U+00A0",
  ],
  "a comma too many": [
    '{\n  "name": "net",\n}',
    "line 3, column 1: invalid character '}' looking for beginning of object key string",
  ],
  "a template": [
    '{"subnet": {{.PodCIDR}}}',
    "line 1, column 13: invalid character '{' looking for beginning of object key string; it may be a template that the runtime fills in",
  ],
};

for (const [what, [text, reason]] of Object.entries(texts)) {
  test(`${what} is shown by its place`, async (t) => {
    t.throws(() => parseJson(text));
    t.equal(whyInvalid(text), `invalid JSON at ${reason}`);
  });
}
