import type { CniCall } from "../cni/call.ts";

/** Describes a call as the holder of the lock: `ADD c1 eth0`. */
export function holderText(call: CniCall): string {
  if (!("attachment" in call)) return call.verb;
  const { containerId, interfaceName } = call.attachment;
  return `${call.verb} ${containerId} ${interfaceName}`;
}
