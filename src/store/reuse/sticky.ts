/** Whose addresses are remembered for `sticky`: an interface of a pod or of a virtual machine. */

import type { InterfaceName } from "../../cni/attachment.ts";

/** An interface of somebody, which keeps its addresses: `<value> <value> <interface>`. */
export type StickyOwner = string & { readonly proof: "sticky owner" };

/** A value that tells whose interface it is, such as a pod's name or a MAC address. */
const VALUE = /^[!-~]{1,253}$/;

/** No owner is longer, in characters. */
const LONGEST_OWNER = 900;

/** The owner of the addresses of a call; `undefined` where a value is missing or not in printable ASCII. */
export function stickyOwnerOf(
  values: readonly string[],
  interfaceName: InterfaceName,
): StickyOwner | undefined {
  const owner = [...values, interfaceName].join(" ");
  const isKnown = values.every((value) => VALUE.test(value)) && owner.length <= LONGEST_OWNER;
  return isKnown ? (owner as StickyOwner) : undefined;
}
