import type { Command, Context, Report } from "../../cli/command/command.ts";
import { logUnreadable } from "../held/network-directory.ts";
import { openNode } from "../node.ts";
import { describeReservation } from "./describe-reservation.ts";
import { reservationTable } from "./reservation-table.ts";

/** `list`: lists reservations. */
export const list: Command = {
  name: "list",
  operands: "[NETWORK]",
  findsNetworks: true,
  summary: "list reservations with address, container, interface, age and pod",
  description: [
    "Lists the reservations of one network, or of all, sorted by address. The pod is the one that libcni's cache names; of Nomad's networks of mode cni/NETWORK it is the job. ALIVE says whether the container is alive, by the network namespaces of the node (show says why); the column is omitted if that is unknown for all of them.",
    "On a terminal, container ids are shortened (show prints them in full) and the table is fitted to its width.",
  ],
  options: [{ name: "--no-headers", summary: "leave out the headings" }],
  examples: [
    { line: "host-local list", effect: "list the reservations of all networks" },
    { line: "host-local list mynet --json", effect: "list those of one network as JSON" },
    {
      line: "host-local list --no-headers | grep ' kube-system/'",
      effect: "list those of the pods in a namespace",
    },
  ],
  run: listNetworks,
};

function listNetworks(context: Context): Report {
  const node = openNode(context, context.operands[0]);
  logUnreadable(context, node.askedReservations());
  const known = node.asked.flatMap((directory) => node.liveness.livenessIn(directory));
  return {
    exitCode: 0,
    // Only the form that is printed is made: there may be tens of thousands of reservations.
    document: () => ({ reservations: known.map((judged) => describeReservation(node, judged)) }),
    text: () => reservationTable(node, known, context.has("--no-headers")),
  };
}
