/** Failed calls are kept for the commands: a runtime logs them, and the next call does not know of them. */

import type { CniCall, NetworkConfiguration } from "../cni/call.ts";
import { CniError } from "../cni/error.ts";
import { formatPod, podIn } from "../cni/pod.ts";
import { loadStoreConfig } from "../ipam/config.ts";
import { isKeptVerb, type KeptCall, type KeptVerb } from "../store/failed-calls/failed-call.ts";
import { keepCall } from "../store/failed-calls/failed-calls-file.ts";
import { cleanPath } from "../store/files/paths.ts";
import type { System } from "../system/system.ts";

/**
 * Keeps the error of a call.
 *
 * @param call `undefined` where it could not be read, such as its configuration
 * @param error as the runtime receives it
 */
export function keepFailure(system: System, call: CniCall | undefined, error: CniError): void {
  const verb = system.environment("CNI_COMMAND");
  if (!isKeptVerb(verb)) return;
  const network = call !== undefined && "network" in call ? call.network : undefined;
  const { code, message, details } = error;
  keepCall(system, { ...keptCall(system, verb, network), kind: "failed", code, message, details });
}

/**
 * What is known of this call, without any check: an invalid value may be the failure.
 *
 * @param network its configuration; `undefined` where that could not be read
 */
export function keptCall(
  system: System,
  verb: KeptVerb,
  network: NetworkConfiguration | undefined,
): KeptCall {
  return {
    time: system.now(),
    verb,
    network: network?.name ?? "",
    dataDir: network === undefined ? "" : dataDirOf(network),
    container: system.environment("CNI_CONTAINERID") ?? "",
    interfaceName: system.environment("CNI_IFNAME") ?? "",
    pod: formatPod(podIn(system.environment("CNI_ARGS") ?? "")),
  };
}

function dataDirOf(network: NetworkConfiguration): string {
  try {
    return cleanPath(loadStoreConfig(network).dataDir);
  } catch (error) {
    if (error instanceof CniError) return "";
    throw error;
  }
}
