import type { AttachmentCall } from "../cni/call.ts";
import { callerArgument } from "../cni/caller-argument.ts";
import { type StickyOwner, stickyOwnerOf } from "../store/reuse/sticky.ts";

/**
 * The owner that gets the addresses of a call again: an interface of whom these arguments tell.
 *
 * @param by names of arguments, see `callerArgument`
 */
export function stickyOwner(call: AttachmentCall, by: readonly string[]): StickyOwner | undefined {
  const { document } = call.network;
  const values = by.map((name) => callerArgument(name, call.arguments, document));
  return stickyOwnerOf(values, call.attachment.interfaceName);
}
