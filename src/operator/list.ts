import { formatAddress } from "../ipam/address.ts";
import type { Command, Context, Report } from "./command.ts";
import { formatDuration } from "./duration.ts";
import {
  containerOf,
  describeItem,
  type Item,
  interfaceOf,
  takeInventory,
  tellUnreadable,
} from "./inventory.ts";
import { distinctDirectories, findNetworks, tellProblems } from "./networks.ts";
import { knownPods } from "./pods.ts";
import { cacheOption } from "./results-cache.ts";
import { columns, formatTable } from "./table.ts";

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
  tellProblems(context, bad);
  const pods = knownPods(context);
  const isShort = system.isTerminal(1);
  const items = distinctDirectories(found).flatMap((network) => takeInventory(system, network));
  tellUnreadable(context, items);
  return {
    exitCode: 0,
    // Of tens of thousands of reservations only that is made which is printed.
    get document() {
      return { reservations: items.map((item) => describeItem(item, pods.of(item))) };
    },
    get text() {
      return formatTable(
        columns("NETWORK", "ADDRESS", "CONTAINER", "INTERFACE", "AGE", "POD"),
        items.map((item) => [
          item.network.location.network,
          formatAddress(item.address),
          shownContainer(item, isShort),
          interfaceOf(item.owner) || "-",
          ageOf(item, system.now()),
          pods.of(item) || "-",
        ]),
      );
    },
  };
}

function ageOf({ since }: Item, now: number): string {
  return since === undefined ? "-" : formatDuration(now - since);
}

/** `?` where the file could not be read, `-` where it names no container. */
function shownContainer({ owner }: Item, isShort: boolean): string {
  if (owner.kind === "unknown") return "?";
  const container = containerOf(owner);
  return (isShort ? container.slice(0, SHORT_ID) : container) || "-";
}
