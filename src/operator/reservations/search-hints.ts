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

/** A hint, for one network or for none. */
export function hint(reason: Hint["reason"], text: string, network: string | null = null): Hint {
  return { reason, network, text };
}

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
  return `No reservation for ${query.kind} ${inOneLine(operandOf(query))}.\n${lines.join("")}`;
}

/** That one network has to be chosen. */
export function inSeveralNetworks(directories: readonly NetworkDirectory[]): Hint {
  const names = directories.map(({ files }) => `${files.network} (${files.directory})`).join(", ");
  const choose = "Choose one with --network or --data-dir.";
  return hint("ambiguous", `It is in several networks: ${names}. ${choose}`);
}

/** Where else on the node it is. */
function elsewhere(node: Node, query: Query): readonly Hint[] {
  const others = node.directories.filter((one) => !node.asked.includes(one));
  const found = others.length === 0 ? [] : search(node, query, others).reservations;
  const networks = new Set(found.map(({ network }) => network.files.network));
  return [...networks].map((network) => hint("elsewhere", `It is in network ${network}.`, network));
}

/** What may know of it though it is gone. */
function past({ context, asked }: Node, query: Query): readonly Hint[] {
  if (!asked.some(({ files }) => hasHistory(files))) return [];
  const command = commandText(context, undefined, ["history", operandOf(query)]);
  return [hint("history", `What was before: ${command}`)];
}

/** The hints for an address, one for each range that it concerns. */
function hintsForAddress(node: Node, address: Address): readonly Hint[] {
  const networks = node.askedNetworks;
  const hints = networks.flatMap((network) =>
    network.rangeSets.flat().flatMap((range) => hintIn(node, network, range, address) ?? []),
  );
  return hints.length > 0 ? hints : [outsideRanges(address, networks)];
}

/** What an address is in a range; `undefined` where it is not in its subnet. */
function hintIn(node: Node, found: FoundNetwork, range: Range, address: Address): Hint | undefined {
  const { network } = found.files;
  const name = `range ${formatAddressRange(range)} of ${network}`;
  if (isGateway(address, range)) {
    return hint("gateway", `It is the gateway of ${name}: never handed out.`, network);
  }
  if (!isWithin(address, range)) {
    const { first, prefixLength: length, whole } = range;
    const subnet = addressRangeOf({ address: first, length, mapped: false });
    if (!isWithin(address, subnet)) return undefined;
    const isOfOther = whole !== undefined && isWithin(address, whole);
    const by = isOfOther
      ? ", this node's part: another node may hand it out"
      : ": never handed out";
    const text = `It is in subnet ${formatSubnet(range)}, but not in ${name}${by}.`;
    return hint("besideRange", text, network);
  }
  const entry = reservedAt(found, address);
  if (entry !== undefined) {
    const text = `It is reserved for ${formatReservedFor(entry)} (ipam.reserved) in ${name}.`;
    return hint("reserved", text, network);
  }
  if (isExcluded(address, found.exclusions)) {
    return hint("excluded", `It is excluded (ipam.exclude) from ${name}.`, network);
  }
  const [user] = node.liveness.places.with(formatAddress(address));
  if (user === undefined) return hint("free", `It is free, in ${name}.`, network);
  const check = commandText(node.context, found.files, ["check", network]);
  const text = `It has no reservation, in ${name}, but ${user.where} has it; see: ${check}`;
  return hint("used", text, network);
}

function outsideRanges({ family }: Address, networks: readonly FoundNetwork[]): Hint {
  const ranges = networks.flatMap(({ files, rangeSets }) =>
    rangeSets
      .flat()
      .filter((range) => range.family === family)
      .map((range) => `${formatAddressRange(range)} of ${files.network}`),
  );
  return ranges.length === 0
    ? hint("unknown", `No IPv${family} range is configured.`)
    : hint("outside", `It is outside all IPv${family} ranges: ${list(ranges)}.`);
}

function hintsForOwner(
  node: Node,
  query: Exclude<Query, { readonly kind: "address" }>,
  candidates: readonly string[],
): readonly Hint[] {
  if (candidates.length > 0) {
    const text = `${candidates.length} container ids start with it: ${list(candidates)}.`;
    return [hint("ambiguous", text)];
  }
  const isPod = query.kind === "pod";
  const reserved = isPod ? reservedFor(node.askedNetworks, query.pod) : [];
  if (reserved.length > 0) return reserved;
  const cached = hintsOnCached(node, ({ containerId, pod }) =>
    isPod ? pod === query.pod : containerId.startsWith(query.id),
  );
  if (cached.length > 0) return cached;
  const start = isPod
    ? "libcni's cache does not contain this pod; try its container id, or"
    : "Neither a reservation nor libcni's cache names it; see";
  return [hint("unknown", `${start}: ${commandText(node.context, undefined, ["list"])}`)];
}

/** The addresses that a pod is to have. */
function reservedFor(networks: readonly FoundNetwork[], pod: string): readonly Hint[] {
  return networks.flatMap(({ files: { network }, reserved }) =>
    reserved
      .filter((entry) => entry.pod === pod)
      .map((entry) => `${formatAddresses(entry)} of ${network} is reserved for it (ipam.reserved).`)
      .map((text) => hint("reserved", text, network)),
  );
}

/** The attachments that libcni's cache names. That multus' own network has the pod says nothing of those that it attaches. */
function hintsOnCached(
  { liveness, asked }: Node,
  isMeant: (one: CachedAttachment) => boolean,
): readonly Hint[] {
  const names = new Set<string>(asked.map(({ files }) => files.network));
  const named = liveness.whose.known().attachments.filter(isMeant);
  const own = named.filter(({ network }) => names.has(network));
  const hints = (own.length > 0 ? own : named).map((one): Hint => {
    const { network, containerId, interfaceName, pod } = one;
    const ofPod = pod === "" ? "" : ` (pod ${pod})`;
    const text = `libcni's cache names container ${containerId}, interface ${interfaceName}${ofPod} in ${network}`;
    return own.length > 0
      ? hint("released", `${text}, but there is no reservation for it.`, network)
      : hint("unknown", `${text}, which does not use this plugin itself.`, network);
  });
  // A directory has no order.
  return hints.sort((a, b) => (a.text < b.text ? -1 : 1)).slice(0, MAX_NAMES);
}

function list(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
}

function operandOf(query: Query): string {
  if (query.kind === "address") return formatAddress(query.address);
  return query.kind === "pod" ? query.pod : query.id;
}
