import { test } from "tap";
import { plural } from "../../../src/cli/output/plural.ts";

for (const [count, noun, text] of [
  [0, "node", "0 nodes"],
  [1, "address", "1 address"],
  [2n, "address", "2 addresses"],
  [1n, "pod", "1 pod"],
] as const) {
  test(`${count} of ${noun}: ${text}`, async (t) => {
    t.equal(plural(count, noun), text);
  });
}
