/**
 * libcni's reading of a configuration file. libcni is the library inside every container runtime; it makes the document that
 * each plugin of the network gets on standard input.
 */

import type { Json, JsonObject } from "../harness/runtime-call.ts";

/** One plugin's object, as it stands in the configuration. */
export interface PluginConfiguration extends JsonObject {
  readonly type: string;
  readonly capabilities?: JsonObject;
}

/** A network: a list of plugins, or a single plugin read as a list of one. */
export interface Network {
  readonly name: string;
  readonly cniVersion: string;
  readonly plugins: readonly PluginConfiguration[];
}

/** The additions of a runtime to a plugin's own object, by verb. */
export interface Injection {
  /** Values for capabilities, for ADD, CHECK and DEL, as `CAP_ARGS` of cnitool gives them. */
  readonly capabilities?: JsonObject;
  /** The result of the plugins before, for CHECK and DEL, and for ADD after the first plugin. */
  readonly prevResult?: Json;
}

/** A result of any specification version, as a runtime reads it. */
export interface Result {
  readonly cniVersion: string;
  readonly interfaces?: readonly { readonly name: string; readonly sandbox?: string }[];
  readonly ips?: readonly { readonly address: string; readonly gateway?: string }[];
  readonly ip4?: {
    readonly ip: string;
    readonly gateway?: string;
    readonly routes?: Result["routes"];
  };
  readonly routes?: readonly { readonly dst: string; readonly gw?: string }[];
  readonly dns?: JsonObject;
}

/**
 * Reads a network from the text of a `.conflist` (a list) or a `.conf` (one plugin).
 *
 * @param text the file's content
 * @throws {Error} if the name, the version, the list or a plugin's type is missing
 */
export function readNetwork(text: string): Network {
  const document: Partial<Network> = JSON.parse(text);
  const { name, cniVersion } = document;
  const plugins: readonly Partial<PluginConfiguration>[] = document.plugins ?? [JSON.parse(text)];
  if (name === undefined || cniVersion === undefined) {
    throw new Error("a network configuration needs a name and a cniVersion");
  }
  if (plugins.length === 0 || !plugins.every(isPlugin)) {
    throw new Error(`network ${name} needs plugins, each with a type`);
  }
  return { name, cniVersion, plugins };
}

function isPlugin(plugin: Partial<PluginConfiguration>): plugin is PluginConfiguration {
  return typeof plugin.type === "string";
}

/**
 * Makes the document that a plugin of the network reads from standard input.
 *
 * @param network the network
 * @param plugin one of its plugins
 * @param injection the runtime's additions
 */
export function pluginInput(
  network: Network,
  plugin: PluginConfiguration,
  injection: Injection = {},
): JsonObject {
  const { capabilities = {}, prevResult } = injection;
  const runtimeConfig = Object.fromEntries(
    Object.entries(capabilities).filter(([name]) => plugin.capabilities?.[name] === true),
  );
  return {
    ...plugin,
    name: network.name,
    cniVersion: network.cniVersion,
    ...(Object.keys(runtimeConfig).length > 0 && { runtimeConfig }),
    ...(prevResult !== undefined && { prevResult }),
  };
}

/**
 * Tells whether a specification version has the features of another version.
 *
 * @param version three numbers with dots
 * @param since three numbers with dots
 */
export function isAtLeast(version: string, since: string): boolean {
  return version.localeCompare(since, "en", { numeric: true }) >= 0;
}
