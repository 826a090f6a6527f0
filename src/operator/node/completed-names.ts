/** The names of what is on this node, for the completion of a command line. */

import type { Context } from "../../cli/command/command.ts";
import { formatAddress } from "../../ipam/address.ts";
import { listReservations } from "../../store/reservations/reservation-file.ts";
import { mergeByDirectory } from "./network-directories.ts";
import { findNetworks } from "./networks.ts";
import { readReservations } from "./node-reservations.ts";
import { readPods } from "./pods.ts";

/** Lists names, by the placeholder of a value or an operand. A name may occur more than once. */
export const completedNames: Readonly<Record<string, (context: Context) => readonly string[]>> = {
  NETWORK: (context) => directories(context).map(({ location }) => location.network),
  ADDRESS: (context) =>
    directories(context).flatMap(({ location }) =>
      listReservations(location).map(({ address }) => formatAddress(address)),
    ),
  POD: podNames,
  NAMESPACE: (context) => podNames(context).map((pod) => pod.slice(0, pod.indexOf("/"))),
};

function directories(context: Context) {
  return mergeByDirectory(findNetworks(context, undefined).found);
}

/** The pods that hold addresses, as `namespace/name`. */
function podNames(context: Context): readonly string[] {
  const pods = readPods(context);
  return directories(context)
    .flatMap((network) => readReservations(context.system, network))
    .map(pods.of)
    .filter((pod) => pod !== "");
}
