import type { Command } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { timeText } from "../../cli/output/time.ts";
import { formatAddress } from "../../ipam/address.ts";
import { containerOf, describeOwner, interfaceOf } from "../../store/reservations/owner.ts";
import { addressIn, describeAddress } from "../judgements/address-in-network.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import { openNode } from "../node.ts";
import { parseQuery, search, whyNotFound } from "../search.ts";
import { describeReservation } from "./describe-reservation.ts";

/** `show`: shows the holder of an address, or the addresses of a container or a pod. */
export const show: Command = {
  name: "show",
  operands: "ADDRESS|CONTAINER|POD",
  findsNetworks: true,
  summary: "show who holds an address, or the addresses of a container or pod",
  description: [
    "The operand is an address, a container id or the beginning of one, or a pod as NAMESPACE/NAME, or NAME, if libcni's cache contains it. If there is no reservation, it exits with 1 and prints what the address is in each network: free and in which range, the gateway, excluded, reserved for a pod or for nobody, or outside all ranges. Who had it before is in the history.",
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
    const known = search(node, query);
    const hints = known.length === 0 ? whyNotFound(node, query) : [];
    return {
      exitCode: known.length === 0 ? 1 : 0,
      document: () => ({
        reservations: known.map((judged) => describeReservation(node, judged)),
        hints,
      }),
      text: () => {
        const now = context.system.now();
        const shown = known.map((judged) =>
          describe(judged, node.cache.podOf(judged.reservation), now),
        );
        return shown.join("\n") + hints.map(({ text }) => `${inOneLine(text)}\n`).join("");
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
  const places = network.networks.map((configured) =>
    describeAddress(addressIn(configured, address)),
  );
  const facts: [string, string][] = [
    ["container", containerOf(owner)],
    ["interface", interfaceOf(owner)],
    ["held by", containerOf(owner) === "" ? describeOwner(owner).replace(/^taken by /, "") : ""],
    ["pod", pod],
    ["alive", `${{ alive: "yes", dead: "no", unknown: "not known" }[liveness]}: ${reason}`],
    ["since", since === undefined ? "" : `${timeText(since)} (${formatDuration(now - since)} ago)`],
    ["address", [...new Set(places)].join("; ")],
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
