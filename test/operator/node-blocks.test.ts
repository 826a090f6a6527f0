import { test } from "tap";
import { longestMaskIn, maskForPods, nodesIn, podsIn } from "../../src/operator/node-blocks.ts";

test("a cluster CIDR holds 2^(node mask - cluster mask) nodes", (t) => {
  const cases = [
    [16, 24, 256n],
    [12, 16, 16n],
    [12, 24, 4096n],
    [24, 24, 1n],
    [24, 16, 0n],
    [48, 64, 65536n],
  ] as const;

  for (const [cluster, mask, nodes] of cases) {
    t.equal(nodesIn(cluster, mask), nodes, `/${cluster} by /${mask}`);
  }
  t.end();
});

test("a block holds all its addresses but those of network, gateway and, for IPv4, broadcast", (t) => {
  const cases = [
    [4, 30, 1n],
    [4, 29, 5n],
    [4, 24, 253n],
    [4, 16, 65533n],
    [4, 31, 0n],
    [6, 126, 2n],
    [6, 64, 2n ** 64n - 2n],
  ] as const;

  for (const [family, mask, pods] of cases) t.equal(podsIn(family, mask), pods, `/${mask}`);
  t.end();
});

test("the smallest block for so many pods", (t) => {
  t.equal(maskForPods(4, 1n), 30);
  t.equal(maskForPods(4, 2n), 29);
  t.equal(maskForPods(4, 110n), 25);
  t.equal(maskForPods(4, 253n), 24);
  t.equal(maskForPods(4, 254n), 23);
  t.equal(maskForPods(4, 2n ** 32n), undefined);
  t.equal(maskForPods(6, 110n), 121);
  t.end();
});

test("kube-controller-manager cuts an IPv6 cluster CIDR into at most 2^16 blocks", (t) => {
  t.equal(longestMaskIn(6, 48), 64);
  t.equal(longestMaskIn(4, 8), 30);
  t.end();
});
