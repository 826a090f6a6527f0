import { test } from "tap";
import { formatJsonDocument } from "../../../src/cli/output/json.ts";

test("a document is JSON with two spaces, as JSON.stringify prints it", async (t) => {
  const document = { a: [1, "two", null, true, [], {}], b: { c: 'x"\u0001123', d: undefined } };

  t.equal(formatJsonDocument(document), `${JSON.stringify(document, null, 2)}\n`);
});

test("whole numbers of any size are exact", async (t) => {
  t.equal(
    formatJsonDocument({ free: 2n ** 128n, none: [0n] }),
    '{\n  "free": 340282366920938463463374607431768211456,\n  "none": [\n    0\n  ]\n}\n',
  );
});
