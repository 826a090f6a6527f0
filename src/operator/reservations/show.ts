import type { Command } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { type Address, formatAddress, formatAddressRange } from "../../ipam/address.ts";
import { formatReservedFor, reservedAt } from "../../ipam/exclusions.ts";
import { containerOf, describeOwner, interfaceOf } from "../../store/reservations/owner.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import { openNode, parseQuery, search } from "../node.ts";
import { describeReservations } from "./describe-reservation.ts";
import { hintsFor, nothingFound } from "./search-hints.ts";

/** `show`: shows the holder of an address, or the addresses of a container or a pod. */
export const show: Command = {
  name: "show",
  operands: "ADDRESS|CONTAINER|POD",
  findsNetworks: true,
  summary: "show who holds an address, or the addresses of a container or pod",
  description: [
    "The operand is an address, a container id or a unique prefix of one, or a pod as NAMESPACE/NAME, or NAME if that is unique, if libcni's cache contains it. If there is no reservation, it exits with 1 and prints what is known: whether the address is free and in which range, a gateway, excluded, reserved for a pod or for nobody, or outside all ranges.",
  ],
  options: [{ name: "--network", value: "NETWORK", summary: "search this network only" }],
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
    const node = openNode(context, context.option("--network"));
    const { reservations, candidates } = search(node, query);
    if (reservations.length === 0) {
      const hints = hintsFor(node, query, candidates);
      return {
        exitCode: 1,
        document: () => ({ reservations: [], hints }),
        text: () => nothingFound(query, hints),
      };
    }
    const known = node.liveness.livenessOfAll(reservations);
    return {
      exitCode: 0,
      document: () => ({ reservations: describeReservations(node, known), hints: [] }),
      text: () => {
        const now = context.system.now();
        return known.map((one) => describe(one, node.cache.podOf(one.reservation), now)).join("\n");
      },
    };
  },
};

/** A reservation, one line for each fact that is known. */
function describe(
  { reservation, conclusion: { liveness, reason } }: KnownReservation,
  pod: string,
  now: number,
): string {
  const { network, address, owner, since, range, path } = reservation;
  const noRange = network.ranges.length > 0 ? "none, outside all ranges" : "unknown";
  const time = since === undefined ? "" : new Date(since).toISOString();
  const facts: [string, string][] = [
    ["container", containerOf(owner)],
    ["interface", interfaceOf(owner)],
    ["held by", containerOf(owner) === "" ? describeOwner(owner).replace(/^taken by /, "") : ""],
    ["pod", pod],
    ["alive", `${{ alive: "yes", dead: "no", unknown: "not known" }[liveness]}: ${reason}`],
    ["since", since === undefined ? "" : `${time} (${formatDuration(now - since)} ago)`],
    ["range", range === undefined ? noRange : formatAddressRange(range)],
    ["reserved", reservedText(network, address)],
    ["gateway", range?.gateway === undefined ? "" : formatAddress(range.gateway)],
    ["file", path],
    ["configured", network.sources[0] ?? ""],
  ];
  const width = Math.max(...facts.map(([fact]) => fact.length));
  const lines = facts
    .filter(([, text]) => text !== "")
    .map(([fact, text]) => `  ${fact.padEnd(width)}  ${inOneLine(text)}\n`);
  return `${reservation.text} of ${network.files.network}\n${lines.join("")}`;
}

/** Whom the configuration reserves the address of a reservation for; empty where it does not. */
function reservedText({ networks }: NetworkDirectory, address: Address): string {
  const entries = networks.flatMap((network) => reservedAt(network, address) ?? []);
  return entries
    .slice(0, 1)
    .map((entry) => `for ${formatReservedFor(entry)}`)
    .join("");
}
