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
import { families } from "../../ipam/arbitraries.ts";

test("a cluster CIDR holds 2^(node mask - cluster mask) nodes", async (t) => {
  t.equal(nodesIn(16, 24), 256n, "/16 with /24");
  t.equal(nodesIn(12, 16), 16n, "/12 with /16: node 17 gets none");
  t.equal(nodesIn(24, 24), 1n, "one podCIDR, one node");
  t.equal(nodesIn(24, 16), 0n, "smaller than a podCIDR");
  t.equal(nodesIn(8, 128), 2n ** 120n, "exact, however many");
});

test("an IPv4 podCIDR holds all but network, broadcast and gateway, an IPv6 one all but two, and a small one all", async (t) => {
  const cases = [
    [4, 30, 1n],
    [4, 29, 5n],
    [4, 28, 13n],
    [4, 24, 253n],
    [4, 16, 65_533n],
    [4, 31, 2n],
    [4, 32, 1n],
    [6, 126, 2n],
    [6, 127, 2n],
    [6, 128, 1n],
    [6, 64, 18_446_744_073_709_551_614n],
  ] as const;
  for (const [family, mask, pods] of cases) t.equal(podsIn(family, mask), pods, `/${mask}`);
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

test("kube-controller-manager rejects node masks more than 16 bits longer than the cluster CIDR, only for IPv6", async (t) => {
  t.equal(longestMaskIn(4, 8), 30);
  t.equal(longestMaskIn(6, 48), 64);
  t.equal(longestMaskIn(6, 120), 126);
});

test("the smallest of the numbers", async (t) => {
  t.equal(leastOf([3n, 1n, 2n]), 1n);
  t.equal(leastOf([]), 0n);
});
