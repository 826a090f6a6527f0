import type { Command, Context, Report } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { formatAddress, formatAddressRange } from "../../ipam/address.ts";
import { describeOwner } from "../../store/reservations/owner.ts";
import { mergeByDirectory } from "../node/network-directories.ts";
import { findNetworks, logProblems } from "../node/networks.ts";
import {
  containerOf,
  describeReservation,
  interfaceOf,
  type NodeReservation,
} from "../node/node-reservations.ts";
import { readPods } from "../node/pods.ts";
import { cacheOption } from "../node/results-cache.ts";
import { parseQuery, search } from "../node/search.ts";
import { formatQuery, type Hint, hintsForAddress, hintsForOwner } from "./hints.ts";

/** `show`: shows the holder of an address, or the addresses of a container or a pod. */
export const show: Command = {
  name: "show",
  operands: "ADDRESS|CONTAINER|POD",
  operandCount: { least: 1, most: 1 },
  findsNetworks: true,
  summary: "show who holds an address, or the addresses of a container or pod",
  description: [
    "The operand is an address, a container id or a unique prefix of one, or a pod as NAMESPACE/NAME if libcni's cache contains it. If there is no reservation, it exits with 1 and prints what is known: whether the address is free and in which range, a gateway, excluded, or outside all ranges.",
  ],
  options: [
    { name: "--network", value: "NETWORK", summary: "search this network only" },
    cacheOption,
  ],
  examples: [
    { line: "host-local show 10.88.0.7", effect: "show the container that holds the address" },
    {
      line: "host-local show 4f1d6e",
      effect: "show the addresses of the container whose id starts with 4f1d6e",
    },
    { line: "host-local show default/web --json", effect: "show the addresses of a pod as JSON" },
  ],
  run: (context) => {
    const query = parseQuery(context.operands[0] ?? "");
    const { found, problems } = findNetworks(context, context.option("--network"));
    logProblems(context, problems);
    const pods = readPods(context);
    const { reservations, candidates } = search(context, mergeByDirectory(found), query, pods);
    if (reservations.length > 0) return foundReport(context, reservations, pods.of);
    const hints =
      query.kind === "address"
        ? hintsForAddress(query.address, found)
        : hintsForOwner(context, query, candidates, pods.attachments);
    return notFoundReport(formatQuery(query), hints);
  },
};

function foundReport(
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

function notFoundReport(query: string, hints: readonly Hint[]): Report {
  return {
    exitCode: 1,
    document: { reservations: [], hints },
    text: `No reservation for ${inOneLine(query)}.\n${hints.map(({ text }) => `  ${inOneLine(text)}\n`).join("")}`,
  };
}

/** A reservation, one line for each fact that is known. */
function describe(reservation: NodeReservation, pod: string, now: number): string {
  const { network, address, owner, since, range, path } = reservation;
  const time = since === undefined ? "" : new Date(since).toISOString();
  const facts: [string, string][] = [
    ["container", containerOf(owner)],
    ["interface", interfaceOf(owner)],
    ["held by", containerOf(owner) === "" ? describeOwner(owner).replace(/^taken by /, "") : ""],
    ["pod", pod],
    ["since", since === undefined ? "" : `${time} (${formatDuration(now - since)} ago)`],
    ["range", range === undefined ? missingRange(reservation) : formatAddressRange(range)],
    ["gateway", range?.gateway === undefined ? "" : formatAddress(range.gateway)],
    ["file", path],
    ["configured", network.source ?? ""],
  ];
  const width = Math.max(...facts.map(([fact]) => fact.length));
  const lines = facts
    .filter(([, text]) => text !== "")
    .map(([fact, text]) => `  ${fact.padEnd(width)}  ${inOneLine(text)}\n`);
  return `${formatAddress(address)} of ${network.location.network}\n${lines.join("")}`;
}

function missingRange({ network }: NodeReservation): string {
  return network.rangeSets.length > 0 ? "none, outside all ranges" : "unknown";
}
