/** A container runtime: attaches pods to networks and detaches them, as libcni does it. */

import { join } from "node:path";
import { type Outcome, run } from "../harness/executable.ts";
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

/** A plugin's refusal, with the members of the error object that it printed. */
class PluginRefusal extends Error {
  readonly plugin: string;
  readonly code: number | undefined;
  readonly details: string | undefined;

  constructor(plugin: string, { stdout, stderr, exitCode }: Outcome) {
    const error = readError(stdout);
    super(error?.msg ?? `exit ${exitCode}: ${stdout}${stderr}`);
    this.plugin = plugin;
    this.code = error?.code;
    this.details = error?.details;
  }
}

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
   * @throws {PluginRefusal} if a plugin refuses; the runtime then has to detach the pod
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
   * @throws {PluginRefusal} if one says no
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
   * @throws {PluginRefusal} if a plugin refuses
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

  /** Tells every plugin which attachments are left. */
  gc(network: Network, valid: readonly Attachment[]): void {
    for (const plugin of network.plugins) {
      this.#run(plugin, networkCall("GC", pluginInput(network, plugin, { valid })));
    }
  }

  /**
   * Asks every plugin whether it can serve an ADD.
   *
   * @throws {PluginRefusal} if one cannot
   */
  status(network: Network): void {
    for (const plugin of network.plugins) {
      this.#run(plugin, networkCall("STATUS", pluginInput(network, plugin)));
    }
  }

  #run(plugin: PluginConfiguration, call: Parameters<typeof run>[1]): string {
    const outcome = run(join(this.#pluginDirectory, plugin.type), call);
    if (outcome.exitCode !== 0) throw new PluginRefusal(plugin.type, outcome);
    return outcome.stdout;
  }
}

function keyOf(network: Network, { containerId, interfaceName }: Attachment): string {
  return `${network.name}-${containerId}-${interfaceName}`;
}
