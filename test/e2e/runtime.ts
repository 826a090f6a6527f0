/** A container runtime: attaches pods to networks and detaches them, as libcni does it. */

import { join } from "node:path";
import { run } from "../harness/executable.ts";
import { readError } from "../harness/printed-error.ts";
import {
  type Attachment,
  attachmentCall,
  type Json,
  type JsonObject,
  networkCall,
} from "../harness/runtime-call.ts";
import {
  isAtLeast,
  type Network,
  type PluginConfiguration,
  pluginInput,
  type Result,
} from "./libcni.ts";

/** The runtime of one host. */
export class Runtime {
  readonly #pluginDirectory: string;
  /** libcni's cache: the result of each attachment, for CHECK and DEL. */
  readonly #results = new Map<string, Json>();

  constructor(pluginDirectory: string) {
    this.#pluginDirectory = pluginDirectory;
  }

  /**
   * Attaches a pod to a network.
   *
   * @param network the network
   * @param pod the pod
   * @param capabilities values for capabilities
   * @throws {Error} with its message if a plugin refuses; the runtime then has to detach the pod
   */
  add(network: Network, pod: Attachment, capabilities: JsonObject = {}): Result {
    let prevResult: Json | undefined;
    for (const plugin of network.plugins) {
      const chained = prevResult === undefined ? {} : { prevResult };
      const input = pluginInput(network, plugin, { capabilities, ...chained });
      prevResult = JSON.parse(this.#run(plugin, attachmentCall("ADD", pod, input)));
    }
    this.#results.set(keyOf(network, pod), prevResult ?? null);
    return JSON.parse(JSON.stringify(prevResult));
  }

  /**
   * Asks every plugin whether the attachment is as it left it.
   *
   * @throws {Error} with its message if one says no
   */
  check(network: Network, pod: Attachment): void {
    const prevResult = this.#results.get(keyOf(network, pod)) ?? null;
    for (const plugin of network.plugins) {
      const input = pluginInput(network, plugin, { prevResult });
      this.#run(plugin, attachmentCall("CHECK", pod, input));
    }
  }

  /**
   * Detaches a pod, plugins in reverse.
   *
   * @throws {Error} with its message if a plugin refuses
   */
  del(network: Network, pod: Attachment): void {
    const result = this.#results.get(keyOf(network, pod));
    const known = result !== undefined && isAtLeast(network.cniVersion, "0.4.0");
    for (const plugin of network.plugins.toReversed()) {
      const input = pluginInput(network, plugin, known ? { prevResult: result } : {});
      this.#run(plugin, attachmentCall("DEL", pod, input));
    }
    this.#results.delete(keyOf(network, pod));
  }

  /** Tells every plugin that no attachment is left. */
  gc(network: Network): void {
    const left = { "cni.dev/attachments": [], "cni.dev/valid-attachments": [] };
    for (const plugin of network.plugins) {
      this.#run(plugin, networkCall("GC", { ...pluginInput(network, plugin), ...left }));
    }
  }

  /**
   * Asks every plugin whether it can serve an ADD.
   *
   * @throws {Error} with its message if one cannot
   */
  status(network: Network): void {
    for (const plugin of network.plugins) {
      this.#run(plugin, networkCall("STATUS", pluginInput(network, plugin)));
    }
  }

  #run(plugin: PluginConfiguration, call: Parameters<typeof run>[1]): string {
    const { exitCode, stdout, stderr } = run(join(this.#pluginDirectory, plugin.type), call);
    if (exitCode === 0) return stdout;
    throw new Error(readError(stdout)?.msg ?? `exit ${exitCode}: ${stdout}${stderr}`);
  }
}

function keyOf(network: Network, { containerId, interfaceName }: Attachment): string {
  return `${network.name}-${containerId}-${interfaceName}`;
}
