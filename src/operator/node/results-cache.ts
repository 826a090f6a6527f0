/** libcni's cache of results: one file for each attachment. */

import type { Context, Option } from "../../cli/command/command.ts";
import { listOf, member, textOf } from "../../cli/command/json-values.ts";
import { progress } from "../../cli/output/terminal.ts";
import { formatAddress } from "../../ipam/address.ts";
import { parsePrefix } from "../../ipam/prefix.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError, type System } from "../../system/system.ts";

/** An attachment in libcni's cache; strings are empty if the cache does not have them. */
export interface CachedAttachment {
  readonly network: string;
  readonly containerId: string;
  readonly interfaceName: string;
  /** The path of the network namespace, recorded since libcni 1.3. */
  readonly networkNamespace: string;
  /** The addresses of the result, in their canonical form. */
  readonly addresses: readonly string[];
  /** `namespace/name` of the pod, if the runtime set it in `CNI_ARGS`. */
  readonly pod: string;
}

/** The directory of libcni's cache, unless the runtime sets another. */
const DEFAULT_CACHE_DIR = "/var/lib/cni";

/** The option that names the directory of the cache. */
export const cacheOption: Option = {
  name: "--cache-dir",
  value: "DIR",
  summary: `directory of libcni's cache (default: ${DEFAULT_CACHE_DIR})`,
};

/** The directory of libcni's cache, which contains `results`. */
export function cacheDirOf({ option }: Context): string {
  return option(cacheOption.name) ?? DEFAULT_CACHE_DIR;
}

/** The largest entry, in bytes. */
const LARGEST_ENTRY = 4 * 1024 * 1024;

/**
 * Reads the whole cache. A missing directory counts as empty; invalid entries are ignored.
 *
 * @param cacheDir the directory that contains `results`
 * @throws SystemError if the directory cannot be read
 */
export function readResultsCache(
  system: OperatorSystem,
  cacheDir: string,
): readonly CachedAttachment[] {
  const directory = `${cacheDir}/results`;
  let names: readonly string[];
  try {
    names = system.list(directory);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
  const step = progress(system, `reading ${directory}`, names.length);
  return names.flatMap((name, index) => {
    const entry = read(system, `${directory}/${name}`);
    step(index + 1);
    return entry === undefined ? [] : [entry];
  });
}

function read(system: System, path: string): CachedAttachment | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(system.readFile(path, LARGEST_ENTRY));
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return undefined;
    throw error;
  }
  const containerId = textOf(member(entry, "containerId"));
  if (containerId === "") return undefined;
  return {
    network: textOf(member(entry, "networkName")),
    containerId,
    interfaceName: textOf(member(entry, "ifName")),
    networkNamespace: textOf(member(entry, "netns")),
    addresses: addressesIn(member(entry, "result")),
    pod: podIn(member(entry, "cniArgs")),
  };
}

/** The addresses of a result of any version: a list, or one of each family before 0.3.0. */
function addressesIn(result: unknown): readonly string[] {
  const entries = [
    ...listOf(member(result, "ips")).map((entry) => member(entry, "address")),
    member(member(result, "ip4"), "ip"),
    member(member(result, "ip6"), "ip"),
  ];
  return entries.flatMap((entry) => {
    const prefix = parsePrefix(textOf(entry));
    return prefix === undefined ? [] : [formatAddress(prefix.address)];
  });
}

/** The pod in `CNI_ARGS`, which libcni records as a list of pairs. */
function podIn(cniArgs: unknown): string {
  const argument = (key: string): string => {
    const pair = listOf(cniArgs).find((one) => listOf(one)[0] === key);
    return textOf(listOf(pair)[1]);
  };
  const name = argument("K8S_POD_NAME");
  return name === "" ? "" : `${argument("K8S_POD_NAMESPACE")}/${name}`;
}
