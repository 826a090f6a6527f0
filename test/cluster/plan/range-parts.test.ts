import fc from "fast-check";
import { test } from "tap";
import type { Context } from "../../../src/cli/command/command.ts";
import { partProblems, rangeParts } from "../../../src/cluster/plan/range-parts.ts";
import { addressAt } from "../../../src/ipam/address.ts";
import { partOf } from "../../../src/ipam/partition.ts";
import { addressRangeOf } from "../../../src/ipam/prefix.ts";
import { capacityOf } from "../../../src/ipam/round-robin.ts";
import { prefix } from "../../ipam/parsed.ts";

function partsOf(text: string, bits: number, clusterCidr = "10.244.0.0/16") {
  const cluster = prefix(clusterCidr);
  const { family } = cluster.address;
  const context = { option: () => text } as Pick<Context, "option"> as Context;
  return rangeParts(context, {
    family,
    cluster,
    clusterLength: cluster.length,
    serviceCidrs: [],
    nodeMask: cluster.length + bits,
    nodes: 2n ** BigInt(bits),
    pods: 1n,
  });
}

const ranges = fc.oneof(
  fc.integer({ min: 18, max: 32 }).map((length) => `192.168.0.0/${length}`),
  fc.integer({ min: 110, max: 128 }).map((length) => `fd00::/${length}`),
  fc
    .tuple(fc.nat(0xffff), fc.nat(0xffff))
    .map((ends) => ends.sort((a, b) => a - b).map((end) => `10.1.${end >> 8}.${end & 255}`))
    .map((ends) => ends.join("-")),
);

test("FEWEST is what the node with the fewest addresses has", async () => {
  const clusters = fc.constantFrom("10.244.0.0/16", "fd00:10::/48");
  fc.assert(
    fc.property(ranges, fc.integer({ min: 1, max: 6 }), clusters, (text, bits, clusterCidr) => {
      const [found] = partsOf(text, bits, clusterCidr);
      if (found === undefined) return false;
      const cluster = prefix(clusterCidr);
      const { first, last } = addressRangeOf(cluster);
      const size = (last.value - first.value + 1n) >> BigInt(bits);
      const capacities = Array.from({ length: 2 ** bits }, (_, number) => {
        const address = addressAt(first.family, first.value + BigInt(number) * size);
        const podCidr = { address, length: cluster.length + bits, mapped: false };
        const part = partOf(found.range, { clusterCidr: cluster, podCidr });
        return part === undefined ? 0n : capacityOf(part, []);
      });
      const fewest = capacities.reduce((a, b) => (b < a ? b : a));
      return found.parts === BigInt(2 ** bits) && found.fewest === fewest;
    }),
  );
});

test("a range that leaves a node without an address is a problem, with the size that does not", async (t) => {
  const problemOf = (text: string, bits: number) => {
    const [problem] = partProblems(partsOf(text, bits));
    return problem && `${problem.message}; ${problem.instead}`;
  };
  t.equal(problemOf("192.168.0.0/22", 8), undefined);
  t.equal(
    problemOf("192.168.0.0/23", 8),
    "192.168.0.0/23 has 2 addresses for each of 256 nodes: on some of them every ADD fails; a range of /22 (4 addresses a node)",
  );
  t.equal(problemOf("192.168.0.0/23,192.168.4.0/24", 6), undefined);
  t.match(problemOf("192.168.0.0-192.168.0.9", 4), "0 addresses for each of 16 nodes");
  t.match(problemOf("192.168.0.0/24", 0), "there is one podCIDR only, so 192.168.0.0/24 is not");
});

test("what is no range is refused", async (t) => {
  for (const text of ["192.168.0.0", "10.0.0.9-10.0.0.1", "10.0.0.1-fd00::1", "", "1-2-3"]) {
    t.throws(
      () => partsOf(text, 8),
      { message: /^--partition: expected a network such as / },
      text,
    );
  }
});
