import { argumentIn } from "../cni/arguments.ts";
import type { AttachmentCall } from "../cni/call.ts";
import { type Located, memberInAnyCase } from "../cni/json.ts";
import { type StickyOwner, stickyOwnerOf } from "../store/reuse/sticky.ts";

/**
 * Who gets the addresses of a call again: an interface of whom these arguments tell.
 *
 * @param by names of members of `CNI_ARGS`, or else of `args.cni` (CNI conventions: dynamic plugin specific fields), or else
 *   of `runtimeConfig`, where a capability such as `mac` is
 */
export function stickyOwner(call: AttachmentCall, by: readonly string[]): StickyOwner | undefined {
  const { document } = call.network;
  const args = memberInAnyCase(document, "args");
  const places = [args && memberInAnyCase(args, "cni"), memberInAnyCase(document, "runtimeConfig")];
  const values = by.map((name) => {
    const value = argumentIn(name, call.arguments);
    return value === "" ? (places.map((place) => textIn(place, name)).find(Boolean) ?? "") : value;
  });
  return stickyOwnerOf(values, call.attachment.interfaceName);
}

/** Anything but text tells of nobody. */
function textIn(place: Located | undefined, name: string): string {
  const value = place && memberInAnyCase(place, name)?.value;
  return typeof value === "string" ? value : "";
}
