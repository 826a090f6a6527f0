import { formatAddress } from "../../ipam/address.ts";
import type { Command, Context, Report } from "../command/command.ts";
import { formatDuration } from "../command/duration.ts";
import { distinctDirectories, findNetworks, logProblems } from "../node/networks.ts";
import {
  containerOf,
  describeReservation,
  interfaceOf,
  logUnreadable,
  type NodeReservation,
  readReservations,
} from "../node/node-reservations.ts";
import { knownPods } from "../node/pods.ts";
import { cacheOption } from "../node/results-cache.ts";
import { columns, formatTable } from "../output/table.ts";

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
  logProblems(context, bad);
  const pods = knownPods(context);
  const isShort = system.isTerminal(1);
  const reservations = distinctDirectories(found).flatMap((network) =>
    readReservations(system, network),
  );
  logUnreadable(context, reservations);
  return {
    exitCode: 0,
    // Of tens of thousands of reservations only that is made which is printed.
    get document() {
      return {
        reservations: reservations.map((reservation) =>
          describeReservation(reservation, pods.of(reservation)),
        ),
      };
    },
    get text() {
      return formatTable(
        columns("NETWORK", "ADDRESS", "CONTAINER", "INTERFACE", "AGE", "POD"),
        reservations.map((reservation) => [
          reservation.network.location.network,
          formatAddress(reservation.address),
          shownContainer(reservation, isShort),
          interfaceOf(reservation.owner) || "-",
          ageOf(reservation, system.now()),
          pods.of(reservation) || "-",
        ]),
      );
    },
  };
}

function ageOf({ since }: NodeReservation, now: number): string {
  return since === undefined ? "-" : formatDuration(now - since);
}

/** `?` where the file could not be read, `-` where it names no container. */
function shownContainer({ owner }: NodeReservation, isShort: boolean): string {
  if (owner.kind === "unknown") return "?";
  const container = containerOf(owner);
  return (isShort ? container.slice(0, SHORT_ID) : container) || "-";
}
