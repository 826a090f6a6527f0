/** Hints for a search without a result: what is known of the address, container or pod. */

import { inOneLine } from "../../cli/output/escape.ts";
import {
  type Address,
  formatAddress,
  formatAddresses,
  formatAddressRange,
  isWithin,
} from "../../ipam/address.ts";
import { formatReservedFor, isExcluded, reservedAt } from "../../ipam/exclusions.ts";
import { addressRangeOf } from "../../ipam/prefix.ts";
import { isGateway, type Range } from "../../ipam/range.ts";
import { hasHistory } from "../../store/history/history-file.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { formatSubnet } from "../judgements/bridge-plugin.ts";
import { commandText } from "../next-command.ts";
import type { Node } from "../node.ts";
import { type Query, search } from "../node.ts";

/** A hint: a stable `reason` for programs, and a sentence. */
export interface Hint {
  readonly reason:
    | "free"
    | "used"
    | "gateway"
    | "excluded"
    | "reserved"
    | "besideRange"
    | "outside"
    | "ambiguous"
    | "released"
    | "refused"
    | "alive"
    | "mayBeAlive"
    | "elsewhere"
    | "history"
    | "unknown";
  /** The network that it concerns; `null` if it concerns none. */
  readonly network: string | null;
  readonly text: string;
}

/** The number of names listed at most. */
const MAX_NAMES = 10;

/**
 * Hints for a search without a result.
 *
 * @param candidates container ids that match, if there are several
 */
export function hintsFor(node: Node, query: Query, candidates: readonly string[]): readonly Hint[] {
  const there = elsewhere(node, query);
  if (query.kind === "address") {
    return [...there, ...hintsForAddress(node, query.address), ...past(node, query)];
  }
  if (there.length > 0) return there;
  return [...hintsForOwner(node, query, candidates), ...past(node, query)];
}

/** That nothing was found, and the hints below it. */
export function nothingFound(query: Query, hints: readonly Hint[]): string {
  const lines = hints.map(({ text }) => `  ${inOneLine(text)}\n`);
  return `No reservation for ${inOneLine(formatQuery(query))}.\n${lines.join("")}`;
}

/** That one network has to be chosen. */
export function inSeveralNetworks(directories: readonly NetworkDirectory[]): Hint {
  const names = directories.map(({ files }) => `${files.network} (${files.directory})`).join(", ");
  const text = `It is in several networks: ${names}. Choose one with --network or --data-dir.`;
  return { reason: "ambiguous", network: null, text };
}

/** Where else on the node it is. */
function elsewhere({ others }: Node, query: Query): readonly Hint[] {
  const found = others === undefined ? [] : search(others, query).reservations;
  const networks = new Set(found.map(({ network }) => network.files.network));
  return [...networks].map((network) => ({
    reason: "elsewhere",
    network,
    text: `It is in network ${network}.`,
  }));
}

/** What may know of it though it is gone. */
function past({ context, directories }: Node, query: Query): readonly Hint[] {
  if (!directories.some(({ files }) => hasHistory(files))) return [];
  const command = commandText(context, undefined, ["history", operandOf(query)]);
  return [{ reason: "history", network: null, text: `What was before: ${command}` }];
}

/** The hints for an address, one for each range that it concerns. */
function hintsForAddress(node: Node, address: Address): readonly Hint[] {
  const { networks } = node;
  const hints = networks.flatMap((network) =>
    network.rangeSets.flat().flatMap((range) => hintIn(node, range, address, network)),
  );
  return hints.length > 0 ? hints : [outsideRanges(address, networks)];
}

/** The addresses that a pod is to have. */
function reservedFor(networks: readonly FoundNetwork[], pod: string): readonly Hint[] {
  return networks.flatMap(({ files: { network }, reserved }) =>
    reserved
      .filter((entry) => entry.pod === pod)
      .map((entry): Hint => {
        const text = `${formatAddresses(entry)} of ${network} is reserved for it (ipam.reserved).`;
        return { reason: "reserved", network, text };
      }),
  );
}

function hintsForOwner(
  { context, cache, networks }: Node,
  query: Exclude<Query, { readonly kind: "address" }>,
  candidates: readonly string[],
): readonly Hint[] {
  if (candidates.length > 0) {
    const text = `${candidates.length} container ids start with it: ${list(candidates)}.`;
    return [{ reason: "ambiguous", network: null, text }];
  }
  const reserved = query.kind === "pod" ? reservedFor(networks, query.pod) : [];
  if (reserved.length > 0) return reserved;
  const matches = ({ containerId, pod }: CachedAttachment): boolean =>
    query.kind === "pod" ? pod === query.pod : containerId.startsWith(query.id);
  const cached = cache.attachments.filter(matches).toSorted(byName);
  if (cached.length > 0) return hintsOnCached(cached, networks);
  const command = commandText(context, undefined, ["list"]);
  const text =
    query.kind === "pod"
      ? `libcni's cache does not contain this pod; try its container id, or: ${command}`
      : `Neither a reservation nor libcni's cache names it; see: ${command}`;
  return [{ reason: "unknown", network: null, text }];
}

/** That multus' own network has the pod says nothing of those that it attaches. */
function hintsOnCached(
  cached: readonly CachedAttachment[],
  networks: readonly FoundNetwork[],
): readonly Hint[] {
  const names = new Set<string>(networks.map(({ files }) => files.network));
  const own = cached.filter(({ network }) => names.has(network));
  if (own.length > 0) return own.slice(0, MAX_NAMES).map(released);
  return cached.slice(0, MAX_NAMES).map((attachment): Hint => {
    const { network } = attachment;
    const text = `${describeCached(attachment)}, which does not use this plugin itself.`;
    return { reason: "unknown", network, text };
  });
}

/** The order of their names: a directory has none. */
function byName(a: CachedAttachment, b: CachedAttachment): number {
  const [one, other] = [a, b].map(
    ({ network, containerId, interfaceName }) => `${network} ${containerId} ${interfaceName}`,
  );
  return one === other ? 0 : (one ?? "") < (other ?? "") ? -1 : 1;
}

/**
 * Describes an attachment of the cache, such as `libcni's cache names container c1, interface eth0 (pod default/web) in mynet`.
 */
function describeCached({ network, containerId, interfaceName, pod }: CachedAttachment): string {
  const ofPod = pod === "" ? "" : ` (pod ${pod})`;
  return `libcni's cache names container ${containerId}, interface ${interfaceName}${ofPod} in ${network}`;
}

function released(attachment: CachedAttachment): Hint {
  const text = `${describeCached(attachment)}, but there is no reservation for it.`;
  return { reason: "released", network: attachment.network, text };
}

function hintIn(node: Node, range: Range, address: Address, found: FoundNetwork): readonly Hint[] {
  const { network } = found.files;
  const name = `range ${formatAddressRange(range)} of ${network}`;
  if (isGateway(address, range)) {
    return [
      { reason: "gateway", network, text: `It is the gateway of ${name}: never handed out.` },
    ];
  }
  const entry = reservedAt(found, address);
  if (isWithin(address, range) && entry !== undefined) {
    const text = `It is reserved for ${formatReservedFor(entry)} (ipam.reserved) in ${name}.`;
    return [{ reason: "reserved", network, text }];
  }
  if (isWithin(address, range)) {
    if (isExcluded(address, found.exclusions)) {
      return [{ reason: "excluded", network, text: `It is excluded (ipam.exclude) from ${name}.` }];
    }
    const user = userOf(node, address);
    if (user === undefined) return [{ reason: "free", network, text: `It is free, in ${name}.` }];
    const command = commandText(node.context, found.files, ["check", network]);
    const text = `It has no reservation, in ${name}, but ${user}; see: ${command}`;
    return [{ reason: "used", network, text }];
  }
  const { first, prefixLength: length } = range;
  if (!isWithin(address, addressRangeOf({ address: first, length, mapped: false }))) return [];
  const { whole } = range;
  const isOfOther = whole !== undefined && isWithin(address, whole);
  const by = isOfOther ? "this node's part: another node may hand it out" : "never handed out";
  const text = `It is in subnet ${formatSubnet(range)}, but not in ${name}${isOfOther ? ", " : ": "}${by}.`;
  return [{ reason: "besideRange", network, text }];
}

/** Who uses an address without a reservation, as a clause; `undefined` if nobody is seen to. */
function userOf({ facts, liveness }: Node, address: Address): string | undefined {
  const text = formatAddress(address);
  if (liveness.whose.nodeAddresses().has(text)) return "the node itself has it";
  const [namespace] = liveness.whose.with(text);
  if (namespace === undefined) {
    return facts.namespaces().isLinked(text)
      ? "a network namespace that is linked with the node's has it"
      : undefined;
  }
  const { processId, path } = namespace;
  return processId === undefined
    ? `the network namespace ${path} has it`
    : `process ${processId} runs in a network namespace with it`;
}

function outsideRanges(address: Address, networks: readonly FoundNetwork[]): Hint {
  const ranges = networks.flatMap(({ files: { network }, rangeSets }) =>
    rangeSets
      .flat()
      .filter(({ family }) => family === address.family)
      .map((range) => `${formatAddressRange(range)} of ${network}`),
  );
  if (ranges.length === 0) {
    const text = `No IPv${address.family} range is configured.`;
    return { reason: "unknown", network: null, text };
  }
  const text = `It is outside all IPv${address.family} ranges: ${list(ranges)}.`;
  return { reason: "outside", network: null, text };
}

function list(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
}

/** A query in words, such as `address 10.1.2.3`. */
function formatQuery(query: Query): string {
  return `${query.kind} ${operandOf(query)}`;
}

function operandOf(query: Query): string {
  if (query.kind === "address") return formatAddress(query.address);
  return query.kind === "pod" ? query.pod : query.id;
}
