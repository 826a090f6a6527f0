import type { CniCall } from "../cni/call.ts";
import { withTrace } from "../cni/trace.ts";
import type { System } from "../system/system.ts";

/** Describes a call as the holder of the lock: `ADD c1 eth0`, and its trace. */
export function holderText(system: System, call: CniCall): string {
  return withTrace(textOf(call), ", ", system.environment("TRACEPARENT"));
}

function textOf(call: CniCall): string {
  if (!("attachment" in call)) return call.verb;
  const { containerId, interfaceName } = call.attachment;
  return `${call.verb} ${containerId} ${interfaceName}`;
}
