/** What is said of a configuration that is not JSON: the place, Go's words, and what is there that is not ASCII. */

import { test } from "tap";
import { parseJson } from "../../../src/cni/json.ts";
import { whyInvalid } from "../../../src/operator/configured/invalid-json.ts";

const texts: Readonly<Record<string, readonly [text: string, reason: string]>> = {
  "a no-break space": [
    '{\u00a0"name": "net"}',
    "line 1, column 2: invalid character 'Â' looking for beginning of object key string; it is U+00A0",
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
