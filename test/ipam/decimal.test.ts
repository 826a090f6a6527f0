import fc from "fast-check";
import { test } from "tap";
import { decimal } from "../../src/ipam/decimal.ts";

test("decimal digits, of any number of them", async (t) => {
  const edges = [18n, 36n].flatMap((power) => [10n ** power, 10n ** power + 7n]);
  const powers = [63n, 64n, 65n, 127n, 128n].map((bits) => 2n ** bits);
  for (const count of [0n, 1n, ...edges, ...powers].flatMap((one) => [one, one + 1n])) {
    t.equal(decimal(count), count.toString());
  }
  fc.assert(fc.property(fc.bigInt(0n, 2n ** 130n), (count) => decimal(count) === `${count}`));
});
