import { formatAddress } from "../../ipam/address.ts";
import type { Command, Context, Report } from "../command/command.ts";
import { formatDuration } from "../command/duration.ts";
import { findNetworks, logProblems, mergeByDirectory } from "../node/networks.ts";
import {
  containerOf,
  describeReservation,
  interfaceOf,
  logUnreadable,
  type NodeReservation,
  readReservations,
} from "../node/node-reservations.ts";
import { readPods } from "../node/pods.ts";
import { cacheOption } from "../node/results-cache.ts";
import { columns, formatTable } from "../output/table.ts";

/** The length of a shortened container id, as in crictl. */
const SHORT_ID_LENGTH = 13;

/** `list`: lists reservations. */
export const list: Command = {
  name: "list",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  summary: "list reservations with address, container, interface, age and pod",
  description: [
    "Lists the reservations of one network, or of all, sorted by address. Container ids are shortened on a terminal. The pod is the one that libcni's cache names.",
  ],
  options: [cacheOption],
  examples: [
    { line: "host-local list", effect: "list the reservations of all networks" },
    { line: "host-local list mynet --json", effect: "list those of one network as JSON" },
  ],
  run: listNetworks,
};

function listNetworks(context: Context): Report {
  const { system, operands } = context;
  const { found, problems } = findNetworks(context, operands[0]);
  logProblems(context, problems);
  const pods = readPods(context);
  const isShort = system.isTerminal(1);
  const reservations = mergeByDirectory(found).flatMap((network) =>
    readReservations(system, network),
  );
  logUnreadable(context, reservations);
  return {
    exitCode: 0,
    // Only the form that is printed is made: there may be tens of thousands of reservations.
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
          formatContainer(reservation, isShort),
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

/** `?` if the file cannot be read, `-` if it names no container. */
function formatContainer({ owner }: NodeReservation, isShort: boolean): string {
  if (owner.kind === "unknown") return "?";
  const container = containerOf(owner);
  return (isShort ? container.slice(0, SHORT_ID_LENGTH) : container) || "-";
}
