/** What the nodes of a cluster have of a range that `ipam.partition` divides. */

import { type Context, UsageError } from "../../cli/command/command.ts";
import { plural } from "../../cli/output/plural.ts";
import { addressAt, bitsOf, parseAddress, sizeOf } from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { dividedOf, partOf } from "../../ipam/partition.ts";
import { addressRangeOf, networkOf, parsePrefix } from "../../ipam/prefix.ts";
import { makeRange, type Range } from "../../ipam/range.ts";
import { capacityOf } from "../../ipam/round-robin.ts";
import { bitsFor, leastOf, nodesIn } from "../nodes/node-mask.ts";
import type { CidrLayout, Problem } from "./cidr-request.ts";

/** The name of the option. */
const PARTITION = "--partition";

/** The definition of `--partition`. */
export const partitionOption = {
  name: PARTITION,
  value: "RANGE[,RANGE]",
  summary:
    "ranges that the key partition divides, each a network or FIRST-LAST: what every node has of them",
} as const;

/** A range, and what nodes have of it. */
export interface RangeParts {
  /** The range as it was given. */
  readonly text: string;
  readonly range: Range;
  /** The number of parts: one for each podCIDR. */
  readonly parts: bigint;
  /** What each part holds at least, apart from what is not handed out. */
  readonly addresses: bigint;
  /** The fewest addresses that a node can hand out: as a rule those of the part with the network address and the gateway. */
  readonly fewest: bigint;
}

/**
 * The parts of the ranges that were given.
 *
 * @param layout of the family whose podCIDRs divide them
 * @throws UsageError where one is no range
 */
export function rangeParts({ option }: Context, layout: CidrLayout): readonly RangeParts[] {
  const texts = option(PARTITION)?.split(",") ?? [];
  // A podCIDR in a service CIDR has a part, too: the podCIDRs are numbered, not counted.
  const parts = nodesIn(layout.clusterLength, layout.nodeMask);
  return texts.map((text) => {
    const range = rangeIn(text.trim());
    const addresses = parts === 0n ? 0n : sizeOf(dividedOf(range)) / parts;
    // The parts in the middle are alike; the addresses that are not handed out are at the ends.
    const ends = [0n, 1n, parts - 1n].filter((number) => number >= 0n && number < parts);
    const capacities = ends.map((number) => capacityOfPart(range, number, layout));
    return {
      text: text.trim(),
      range,
      parts,
      addresses,
      fewest: leastOf([addresses, ...capacities]),
    };
  });
}

/** What does not fit. */
export function partProblems(divided: readonly RangeParts[]): readonly Problem[] {
  return divided.flatMap(({ text, range: { family }, parts, addresses, fewest }) => {
    const code = "part-too-small";
    if (parts < 2n) {
      return [
        {
          code,
          family,
          message: `there is one podCIDR only, so ${text} is not divided: every ADD fails`,
          instead: "a larger cluster CIDR or a longer node mask",
        },
      ];
    }
    if (fewest > 0n) return [];
    // Network address, gateway and broadcast address take three of four at most.
    const length = bitsOf(family) - bitsFor(parts) - 2;
    const larger = `a range of /${length} (4 addresses a node)`;
    return [
      {
        code,
        family,
        message: `${text} has ${plural(addresses, "address")} for each of ${decimal(parts)} nodes: on some of them every ADD fails`,
        instead: length < 0 ? "fewer podCIDRs" : larger,
      },
    ];
  });
}

function capacityOfPart(
  range: Range,
  number: bigint,
  { cluster, clusterLength, nodeMask, family }: CidrLayout,
): bigint {
  const mapped = false;
  const zero = addressAt(family, 0n);
  const clusterCidr = cluster ?? { address: zero, length: clusterLength, mapped };
  const { first } = addressRangeOf(clusterCidr);
  const offset = number << BigInt(bitsOf(family) - nodeMask);
  const podCidr = { address: addressAt(family, first.value + offset), length: nodeMask, mapped };
  const part = partOf(range, { clusterCidr, podCidr });
  return part === undefined ? 0n : capacityOf(part, []);
}

/** A network with the defaults of a configuration, or `first-last`, which has neither gateway nor broadcast address. */
function rangeIn(text: string): Range {
  const subnet = parsePrefix(text);
  const [first, last, ...rest] = text.split("-").map(parseAddress);
  if (subnet !== undefined && !subnet.mapped) {
    const none = { rangeStart: undefined, rangeEnd: undefined, gateway: undefined };
    return makeRange({ path: PARTITION, subnet: networkOf(subnet), ...none });
  }
  if (
    first?.family === last?.family &&
    first &&
    last &&
    first.value <= last.value &&
    !rest.length
  ) {
    const { family } = first;
    return { family, prefixLength: bitsOf(family), gateway: undefined, first, last };
  }
  throw new UsageError(
    `${PARTITION}: expected a network such as 192.168.0.0/20, or 192.168.0.20-192.168.0.250, found ${text}`,
  );
}
