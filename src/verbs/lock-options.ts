import type { AttachmentCall, NetworkCall } from "../cni/call.ts";
import { formatPod, podIn } from "../cni/pod.ts";
import type { StoreConfig } from "../ipam/config.ts";
import type { HistoryVerb } from "../store/history/history-record.ts";
import type { LockOptions } from "../store/lock.ts";

/**
 * How a call takes the lock, and how the history describes it.
 *
 * @param verb what the history calls it
 */
export function lockOptions(
  call: AttachmentCall | NetworkCall,
  { lockTimeoutSeconds, historyBytes, reuse }: StoreConfig,
  verb: HistoryVerb,
): LockOptions {
  const options = { timeoutSeconds: lockTimeoutSeconds, reuse };
  if (historyBytes === undefined) return options;
  const pod = "arguments" in call ? formatPod(podIn(call.arguments)) : "";
  return {
    ...options,
    history: { maxBytes: historyBytes, verb, pod },
  };
}
