/** Findings on networks that may hand out the same address on one link; an address that two have already is another finding. */

import { formatAddressRange, intersectionOf } from "../../ipam/address.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { areApart } from "../judgements/are-apart.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/** Compares every two configured networks whose pods may meet. */
export function overlapFindings({ asked, directories }: Node): readonly Finding[] {
  const configured = directories.filter(({ sources }) => sources.length > 0);
  return configured.flatMap((network, index) =>
    configured
      .slice(index + 1)
      .filter((other) => asked.includes(network) || asked.includes(other))
      .filter((other) => !areApart(network, other))
      .flatMap((other) => sharedRanges(network, other)),
  );
}

function sharedRanges(
  { files: { network }, ranges, sources }: NetworkDirectory,
  other: NetworkDirectory,
): readonly Finding[] {
  const shared = ranges.flatMap((range) =>
    other.ranges.flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  return [...new Set(shared.map(formatAddressRange))].map((addressRange) => ({
    code: "overlapping-ranges",
    network,
    path: sources[0] ?? "",
    message: `${addressRange} is in the networks ${network} and ${other.files.network} (${other.sources.join(", ")})`,
  }));
}
