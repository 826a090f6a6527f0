import { formatAddress, formatAddressRange } from "../../ipam/address.ts";
import { describeOwner } from "../../store/owner.ts";
import type { Command, Context, Report } from "../command/command.ts";
import { formatDuration } from "../command/duration.ts";
import { distinctDirectories, findNetworks, logProblems } from "../node/networks.ts";
import {
  containerOf,
  describeReservation,
  interfaceOf,
  type NodeReservation,
} from "../node/node-reservations.ts";
import { knownPods } from "../node/pods.ts";
import { cacheOption } from "../node/results-cache.ts";
import { parseQuery, search } from "../node/search.ts";
import { formatQuery, type Hint, hintsForAddress, hintsForOwner } from "./hints.ts";

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
    const query = parseQuery(context.operands[0] ?? "");
    const { found, bad } = findNetworks(context, context.option("--network"));
    logProblems(context, bad);
    const pods = knownPods(context);
    const { reservations, candidates } = search(context, distinctDirectories(found), query, pods);
    if (reservations.length > 0) return held(context, reservations, pods.of);
    const hints =
      query.kind === "address"
        ? hintsForAddress(query.address, found)
        : hintsForOwner(query, candidates, pods.attachments);
    return nothingHeld(formatQuery(query), hints);
  },
};

function held(
  context: Context,
  reservations: readonly NodeReservation[],
  podOf: (reservation: NodeReservation) => string,
): Report {
  return {
    exitCode: 0,
    document: {
      reservations: reservations.map((reservation) =>
        describeReservation(reservation, podOf(reservation)),
      ),
      hints: [],
    },
    text: reservations
      .map((reservation) => describe(reservation, podOf(reservation), context.system.now()))
      .join("\n"),
  };
}

function nothingHeld(query: string, hints: readonly Hint[]): Report {
  return {
    exitCode: 1,
    document: { reservations: [], hints },
    text: `No reservation for ${query}.\n${hints.map(({ text }) => `  ${text}\n`).join("")}`,
  };
}

/** A reservation, a line for each fact that is known. */
function describe(reservation: NodeReservation, pod: string, now: number): string {
  const { network, address, owner, since, range, path } = reservation;
  const time = since === undefined ? "" : new Date(since).toISOString();
  const facts: [string, string][] = [
    ["container", containerOf(owner)],
    ["interface", interfaceOf(owner)],
    ["taken by", containerOf(owner) === "" ? describeOwner(owner).replace(/^taken by /, "") : ""],
    ["pod", pod],
    ["since", since === undefined ? "" : `${time} (${formatDuration(now - since)} ago)`],
    ["range", range === undefined ? placeOf(reservation) : formatAddressRange(range)],
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

function placeOf({ network }: NodeReservation): string {
  return network.rangeSets.length > 0 ? "none: it is outside all ranges" : "not known";
}
