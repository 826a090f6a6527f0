import { formatAddress, formatWindow } from "../ipam/address.ts";
import { describeOwner } from "../store/owner.ts";
import type { Command, Context, Report } from "./command.ts";
import { formatDuration } from "./duration.ts";
import { formatWanted, type Hint, hintsForAddress, hintsForOwner } from "./hints.ts";
import { containerOf, describeItem, type Item, interfaceOf } from "./inventory.ts";
import { distinctDirectories, findNetworks, tellProblems } from "./networks.ts";
import { knownPods } from "./pods.ts";
import { cacheOption } from "./results-cache.ts";
import { readWanted, search } from "./search.ts";

/** `show`: who holds an address, or what a container holds. */
export const show: Command = {
  name: "show",
  operands: "ADDRESS|CONTAINER|POD",
  operandCount: { least: 1, most: 1 },
  summary: "who holds an address, or what a container holds: since when, in which range",
  description: [
    "The operand is an address, a container id or the beginning of one, or a pod as NAMESPACE/NAME where libcni's cache names it. Ends with 1 where there is no such reservation, and says what is known: whether the address is free and in which range, a gateway, excluded, or outside all ranges.",
  ],
  options: [
    { name: "--network", value: "NETWORK", summary: "look in this network only" },
    cacheOption,
  ],
  examples: [
    { line: "host-local show 10.88.0.7", effect: "who holds the address" },
    { line: "host-local show 4f1d6e", effect: "what the container whose id begins so holds" },
    { line: "host-local show default/web --json", effect: "the addresses of a pod, for a program" },
  ],
  run: (context) => {
    const wanted = readWanted(context.operands[0] ?? "");
    const { found, bad } = findNetworks(context, context.option("--network"));
    tellProblems(context, bad);
    const pods = knownPods(context);
    const { items, candidates } = search(context, distinctDirectories(found), wanted, pods);
    if (items.length > 0) return held(context, items, pods.of);
    const hints =
      wanted.kind === "address"
        ? hintsForAddress(wanted.address, found)
        : hintsForOwner(wanted, candidates, pods.attachments);
    return nothingHeld(formatWanted(wanted), hints);
  },
};

function held(context: Context, items: readonly Item[], podOf: (item: Item) => string): Report {
  return {
    exitCode: 0,
    document: { reservations: items.map((item) => describeItem(item, podOf(item))), hints: [] },
    text: items.map((item) => describe(item, podOf(item), context.system.now())).join("\n"),
  };
}

function nothingHeld(wanted: string, hints: readonly Hint[]): Report {
  return {
    exitCode: 1,
    document: { reservations: [], hints },
    text: `No reservation for ${wanted}.\n${hints.map(({ text }) => `  ${text}\n`).join("")}`,
  };
}

/** A reservation, a line for each fact that is known. */
function describe(item: Item, pod: string, now: number): string {
  const { network, address, owner, since, range, path } = item;
  const time = since === undefined ? "" : new Date(since).toISOString();
  const facts: [string, string][] = [
    ["container", containerOf(owner)],
    ["interface", interfaceOf(owner)],
    ["taken by", containerOf(owner) === "" ? describeOwner(owner).replace(/^taken by /, "") : ""],
    ["pod", pod],
    ["since", since === undefined ? "" : `${time} (${formatDuration(now - since)} ago)`],
    ["range", range === undefined ? placeOf(item) : formatWindow(range)],
    ["gateway", range === undefined ? "" : formatAddress(range.gateway)],
    ["file", path],
    ["configured", network.source ?? ""],
  ];
  const width = Math.max(...facts.map(([fact]) => fact.length));
  const lines = facts
    .filter(([, text]) => text !== "")
    .map(([fact, text]) => `  ${fact.padEnd(width)}  ${text}\n`);
  return `${formatAddress(address)} of ${network.location.network}\n${lines.join("")}`;
}

function placeOf({ network }: Item): string {
  return network.rangeSets.length > 0 ? "none: it is outside all ranges" : "not known";
}
