/** Keys that an object has twice, of which Go's decoder takes one without a word. */

import { test } from "tap";
import { repeatedKeys } from "../../../src/operator/configured/repeated-keys.ts";

for (const [text, found] of [
  ['{"a": 1, "b": 2}', []],
  ['{"a": 1, "a": 2}', ["a is there twice; the last one counts"]],
  [
    '{"plugins": [{}, {"ipam": {"subnet": "x", "type": "y", "subnet": "z"}}]}',
    ["plugins[1].ipam.subnet is there twice; the last one counts"],
  ],
  ['{"ipam": {"ranges": [[{"subnet": {}}, {"subnet": []}]]}}', []],
  [
    '{"ipam": {"subnet": 1, "Subnet": 2}}',
    [
      "ipam.subnet is there twice, also as Subnet, which is the same key to plugins; one of them is without effect",
    ],
  ],
  [
    '{"ipam": {"subnet": 1, "\u017fubnet": 2}}',
    [
      "ipam.subnet is there twice, also as \u017fubnet, which is the same key to plugins; one of them is without effect",
    ],
  ],
  ['{"a": "{\\"b\\": 1, \\"b\\": 2}", "c": ",", "d": "a"}', []],
  ['{"\\u0061": 1, "a": 2}', ["a is there twice; the last one counts"]],
  ['{"a": 1, "a": 2, "a": 3}', ["a is there 3 times; the last one counts"]],
  ['[{"a": {"b": 1}}, {"a": {"b": 1, "b": []}}]', ["[1].a.b is there twice; the last one counts"]],
  ["[]", []],
  ['"a"', []],
] as const) {
  test(`of ${text} is said: ${found.join() || "nothing"}`, async (t) => {
    t.strictSame(
      repeatedKeys(text).map(({ message }) => message),
      found,
    );
  });
}

test("more keys than a call has arguments may be there twice", async (t) => {
  const keys = Array.from({ length: 200_000 }, (_, at) => `"k${at}":1`).join();
  t.equal(repeatedKeys(`{${keys},${keys}}`).length, 200_000);
});

test("a file that is deep or large takes no stack and no time", async (t) => {
  const depth = 10_000;
  t.strictSame(repeatedKeys(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`), []);
  const began = performance.now();
  t.strictSame(
    repeatedKeys(JSON.stringify({ a: "x".repeat(1_000_000), b: "\\".repeat(100_000) })),
    [],
  );
  t.ok(performance.now() - began < 2000);
});
