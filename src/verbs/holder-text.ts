import type { CniCall } from "../cni/call.ts";

/** A call in a few words, for those who wait for its lock: `ADD c1 eth0`. */
export function holderText(call: CniCall): string {
  if (!("attachment" in call)) return call.verb;
  const { containerId, interfaceName } = call.attachment;
  return `${call.verb} ${containerId} ${interfaceName}`;
}
