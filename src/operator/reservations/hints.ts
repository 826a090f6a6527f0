/** Why nothing was found: what is known of an address that nobody holds, of a container that holds nothing. */

import {
  type Address,
  formatAddress,
  formatAddressRange,
  isSame,
  isWithin,
} from "../../ipam/address.ts";
import { type Exclusions, isExcluded } from "../../ipam/exclusions.ts";
import { addressRangeOf } from "../../ipam/prefix.ts";
import type { Range } from "../../ipam/range.ts";
import { subnetOf } from "../capacity/capacity-count.ts";
import type { FoundNetwork } from "../node/networks.ts";
import type { CachedAttachment } from "../node/results-cache.ts";
import type { Query } from "../node/search.ts";

/** A hint; the stable word for programs, and the sentence for people. */
export interface Hint {
  readonly reason:
    | "free"
    | "gateway"
    | "excluded"
    | "besideRange"
    | "outside"
    | "ambiguous"
    | "released"
    | "refused"
    | "unknown";
  /** The network that it is about; `null` where it is about none. */
  readonly network: string | null;
  readonly text: string;
}

/** So many names are told at most. */
const MOST_NAMES = 10;

/** Hints for an address that nobody holds, from every range that has to do with it. */
export function hintsForAddress(
  address: Address,
  networks: readonly FoundNetwork[],
): readonly Hint[] {
  const hints = networks.flatMap(({ location: { network }, rangeSets, exclusions }) =>
    rangeSets.flat().flatMap((range) => hintIn(range, address, network, exclusions)),
  );
  return hints.length > 0 ? hints : [outsideAll(address, networks)];
}

/** Hints for a container or a pod that holds nothing. */
export function hintsForOwner(
  query: Exclude<Query, { readonly kind: "address" }>,
  candidates: readonly string[],
  attachments: readonly CachedAttachment[],
): readonly Hint[] {
  if (candidates.length > 0) {
    const text = `${candidates.length} containers begin so: ${some(candidates)}.`;
    return [{ reason: "ambiguous", network: null, text }];
  }
  const isMeant = ({ containerId, pod }: CachedAttachment): boolean =>
    query.kind === "pod" ? pod === query.pod : containerId.startsWith(query.id);
  const remembered = attachments.filter(isMeant);
  if (remembered.length > 0) return remembered.slice(0, MOST_NAMES).map(released);
  const text =
    query.kind === "pod"
      ? "libcni's cache does not name this pod; try its container id, or list."
      : "No reservation and no entry of libcni's cache names it; see list.";
  return [{ reason: "unknown", network: null, text }];
}

function released({ network, containerId, interfaceName, pod }: CachedAttachment): Hint {
  const whose = pod === "" ? "" : ` (pod ${pod})`;
  return {
    reason: "released",
    network,
    text: `libcni's cache names container ${containerId}, interface ${interfaceName}${whose} for ${network}, but no reservation does.`,
  };
}

function hintIn(
  range: Range,
  address: Address,
  network: string,
  exclusions: Exclusions,
): readonly Hint[] {
  const directory = `range ${formatAddressRange(range)} of ${network}`;
  if (isSame(address, range.gateway)) {
    return [
      { reason: "gateway", network, text: `It is the gateway of ${directory}: never handed out.` },
    ];
  }
  if (isWithin(address, range)) {
    return isExcluded(address, exclusions)
      ? [{ reason: "excluded", network, text: `It is excluded (ipam.exclude) from ${directory}.` }]
      : [{ reason: "free", network, text: `It is free, in ${directory}.` }];
  }
  const { first, prefixLength: length } = range;
  if (!isWithin(address, addressRangeOf({ address: first, length, mapped: false }))) return [];
  const text = `It is in subnet ${subnetOf(range)}, but not in ${directory}: never handed out.`;
  return [{ reason: "besideRange", network, text }];
}

function outsideAll(address: Address, networks: readonly FoundNetwork[]): Hint {
  const ranges = networks.flatMap(({ location: { network }, rangeSets }) =>
    rangeSets
      .flat()
      .filter(({ family }) => family === address.family)
      .map((range) => `${formatAddressRange(range)} of ${network}`),
  );
  if (ranges.length === 0) {
    const text = `No configuration tells a range of IPv${address.family}.`;
    return { reason: "unknown", network: null, text };
  }
  const text = `It is outside all ranges of IPv${address.family}: ${some(ranges)}.`;
  return { reason: "outside", network: null, text };
}

function some(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
}

/** What was looked for, in a sentence. */
export function formatQuery(query: Query): string {
  if (query.kind === "address") return `address ${formatAddress(query.address)}`;
  return query.kind === "pod" ? `pod ${query.pod}` : `container ${query.id}`;
}
