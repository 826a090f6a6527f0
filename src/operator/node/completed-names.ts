/** The names of what is on this node, for the completion of a command line. */

import type { Context } from "../../cli/command/command.ts";
import { formatAddress } from "../../ipam/address.ts";
import { type Node, openWholeNode } from "./node.ts";

/** Lists names, by the placeholder of a value or an operand. A name may occur more than once. */
export const completedNames: Readonly<Record<string, (context: Context) => readonly string[]>> = {
  NETWORK: (context) => nodeOf(context).directories.map(({ files }) => files.network),
  ADDRESS: (context) =>
    nodeOf(context)
      .directories.flatMap(({ listed }) => listed)
      .map(({ address }) => formatAddress(address)),
  POD: podNames,
  NAMESPACE: (context) => podNames(context).map((pod) => pod.slice(0, pod.indexOf("/"))),
};

function nodeOf(context: Context): Node {
  return openWholeNode(context, undefined);
}

/** The pods that hold addresses, as `namespace/name`. */
function podNames(context: Context): readonly string[] {
  const { cache, reservations } = nodeOf(context);
  return reservations.map((one) => cache.podOf(one)).filter((pod) => pod !== "");
}
