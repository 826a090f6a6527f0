/** What is said of a configuration that is not JSON: the place, Go's words, and what people mostly wrote there. */

import { test } from "tap";
import { parseJson } from "../../../src/cni/json.ts";
import { whyInvalid } from "../../../src/operator/configured/invalid-json.ts";

const COMMENT = "; JSON has no comments";

const texts: Readonly<Record<string, readonly [text: string, reason: string]>> = {
  "a mistake in the third line": [
    '{\n  "name": "net",\n  "type" "bridge"\n}',
    "line 3, column 10: invalid character '\"' after object key",
  ],
  "a file that is cut off": ['{\n  "name": "n', "line 2, column 13: unexpected end of JSON input"],
  "an empty file": ["", "line 1, column 1: unexpected end of JSON input"],
  "a byte order mark": [
    '\ufeff{"name": "net"}',
    "line 1, column 1: invalid character 'ï' looking for beginning of value; the file begins with a byte order mark (BOM): save it without",
  ],
  "typographic quotes": [
    "{\n“name”: “net”}",
    "line 2, column 1: invalid character 'â' looking for beginning of object key string; “ is a typographic quote: write \"",
  ],
  "a typographic quote behind a value": [
    '{"name": ‘net’}',
    "line 1, column 10: invalid character 'â' looking for beginning of value; ‘ is a typographic quote: write \"",
  ],
  "a no-break space": [
    '{\u00a0"name": "net"}',
    "line 1, column 2: invalid character 'Â' looking for beginning of object key string; U+00A0 is a no-break space: write an ordinary one",
  ],
  "single quotes": [
    "{'name': 'net'}",
    "line 1, column 2: invalid character '\\'' looking for beginning of object key string; JSON has double quotes: write \"",
  ],
  "a comment in a line": [
    '{\n  "name": "net", // ours\n  "type": "bridge"\n}',
    `line 2, column 18: invalid character '/' looking for beginning of object key string${COMMENT}`,
  ],
  "a comment at the beginning": [
    "# ours\n{}",
    `line 1, column 1: invalid character '#' looking for beginning of value${COMMENT}`,
  ],
  "a comment between": [
    '{"name": "net" /* ours */}',
    `line 1, column 16: invalid character '/' after object key:value pair${COMMENT}`,
  ],
  "a comma too many": [
    '{\n  "name": "net",\n}',
    "line 3, column 1: invalid character '}' looking for beginning of object key string; the comma before it is one too many",
  ],
  "a comma too many in a list": [
    '["a", ]',
    "line 1, column 7: invalid character ']' looking for beginning of value; the comma before it is one too many",
  ],
  "a slash that begins no comment": [
    '{"dataDir": /srv}',
    "line 1, column 13: invalid character '/' looking for beginning of value",
  ],
  "a template": [
    '{"subnet": {{.PodCIDR}}}',
    "line 1, column 13: invalid character '{' looking for beginning of object key string; it may be a template that the runtime fills in",
  ],
};

for (const [what, [text, reason]] of Object.entries(texts)) {
  test(`${what} is called by its name`, async (t) => {
    t.throws(() => parseJson(text));
    t.equal(whyInvalid(text), `invalid JSON at ${reason}`);
  });
}
