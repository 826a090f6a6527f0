import fc from "fast-check";
import { test } from "tap";
import {
  bitsFor,
  leastOf,
  longestMaskIn,
  longestNodeMask,
  maskForPods,
  nodesIn,
  podsIn,
} from "../../../src/cluster/nodes/node-mask.ts";
import { makeRange } from "../../../src/ipam/range.ts";
import { capacityOf } from "../../../src/ipam/round-robin.ts";
import { families } from "../../ipam/arbitraries.ts";
import { rangeSpec } from "../../ipam/parsed.ts";

for (const [what, clusterMask, nodeMask, nodes] of [
  ["2^(24-16)", 16, 24, 256n],
  ["node 17 gets none", 12, 16, 16n],
  ["one podCIDR, one node", 24, 24, 1n],
  ["none if smaller than a podCIDR", 24, 16, 0n],
  ["exact, however many", 8, 128, 2n ** 120n],
] as const) {
  test(`/${clusterMask} with /${nodeMask} holds ${nodes} nodes: ${what}`, async (t) => {
    t.equal(nodesIn(clusterMask, nodeMask), nodes);
  });
}

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

test("bitsFor is the binary logarithm, rounded up", async (t) => {
  t.equal(bitsFor(1n), 0);
  fc.assert(
    fc.property(fc.bigInt({ min: 2n, max: 2n ** 130n }), (count) => {
      const bits = BigInt(bitsFor(count));
      return 2n ** bits >= count && 2n ** (bits - 1n) < count;
    }),
  );
});

test("a node mask more than 16 bits longer than the cluster CIDR is rejected, only for IPv6", async (t) => {
  t.equal(longestMaskIn(4, 8), 30);
  t.equal(longestMaskIn(6, 48), 64);
  t.equal(longestMaskIn(6, 120), 126);
});

test("the smallest of the numbers", async (t) => {
  t.equal(leastOf([3n, 1n, 2n]), 1n);
  t.equal(leastOf([]), 0n);
});
