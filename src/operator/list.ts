import { formatAddress } from "../ipam/address.ts";
import type { Command, Context, Report } from "./command.ts";
import { formatDuration } from "./duration.ts";
import {
  containerOf,
  describeItem,
  type Item,
  interfaceOf,
  podOf,
  takeInventory,
} from "./inventory.ts";
import { findNetworks } from "./networks.ts";
import { cacheDirOf, cacheOption, readResultsCache } from "./results-cache.ts";
import { formatTable } from "./table.ts";

/** So much of a container id is shown on a terminal, as by crictl. */
const SHORT_ID = 13;

/** `list`: every reservation. */
export const list: Command = {
  name: "list",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  summary: "every reservation: address, container, interface, age, pod",
  description: [
    "Lists the reservations of all networks, or of one, by address. Container ids are shortened on a terminal only. The pod is known where libcni's cache names it.",
  ],
  options: [cacheOption],
  examples: [
    { line: "host-local list", effect: "all networks" },
    { line: "host-local list mynet --json", effect: "one network, for a program" },
  ],
  run: listReservationsOf,
};

function listReservationsOf(context: Context): Report {
  const { system, operands } = context;
  const { found, bad } = findNetworks(context, operands[0]);
  for (const { source, problem } of bad) context.tell(`host-local: ${source}: ${problem}\n`);
  const cache = readResultsCache(system, cacheDirOf(context));
  const seen = new Set<string>();
  const items = found
    .filter(({ location }) => !seen.has(location.directory) && seen.add(location.directory))
    .flatMap((network) => takeInventory(system, network));
  return {
    exitCode: 0,
    document: { reservations: items.map((item) => describeItem(item, podOf(item, cache))) },
    text: formatTable(
      ["NETWORK", "ADDRESS", "CONTAINER", "INTERFACE", "AGE", "POD"].map((heading) => ({
        heading,
        align: "left" as const,
      })),
      items.map((item) => rowOf(context, item, podOf(item, cache))),
    ),
  };
}

function rowOf({ system }: Context, item: Item, pod: string): readonly string[] {
  const { network, address, owner, since } = item;
  const container = containerOf(owner);
  return [
    network.location.network,
    formatAddress(address),
    (system.isTerminal(1) ? container.slice(0, SHORT_ID) : container) || "-",
    interfaceOf(owner) || "-",
    since === undefined ? "-" : formatDuration(system.now() - since),
    pod || "-",
  ];
}
