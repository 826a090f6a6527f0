import fc from "fast-check";
import { test } from "tap";
import { longestNodeMask, maskForPods, podsIn } from "../../../src/cluster/nodes/node-mask.ts";
import { makeRange } from "../../../src/ipam/range.ts";
import { capacityOf } from "../../../src/ipam/round-robin.ts";
import { families } from "../../ipam/arbitraries.ts";
import { rangeSpec } from "../../ipam/parsed.ts";

test("a podCIDR holds as many pods as the plugin hands out addresses of it", async (t) => {
  t.equal(podsIn(4, 24), 253n, "all but network, broadcast and gateway");
  for (const [family, network, longest] of [
    [4, "10.0.0.0", 32],
    [6, "fd00::", 128],
  ] as const) {
    for (let mask = longest - 24; mask <= longest; mask++) {
      const range = makeRange(rangeSpec({ subnet: `${network}/${mask}` }));
      t.equal(podsIn(family, mask), capacityOf(range, []), `/${mask}`);
    }
  }
});

test("the mask for a number of pods is that of the smallest podCIDR that holds them", async (t) => {
  t.equal(maskForPods(4, 1n), 30);
  t.equal(maskForPods(4, 110n), 25);
  t.equal(maskForPods(4, 2n ** 32n), undefined, "more than there are addresses");
  fc.assert(
    fc.property(families, fc.bigInt({ min: 1n, max: 2n ** 31n }), (family, pods) => {
      const mask = maskForPods(family, pods) ?? -1;
      return (
        podsIn(family, mask) >= pods &&
        (mask === longestNodeMask(family) || podsIn(family, mask + 1) < pods)
      );
    }),
  );
});
