/** What `ipam.partition` names: the file of this node that has its podCIDR. */

import { configurationNames } from "../cni/configuration-files.ts";
import { internalError } from "../cni/error.ts";
import { isObject, type Json, parseJson } from "../cni/json.ts";
import { isPodCidrOf, type Partition } from "../ipam/partition.ts";
import { PARTITION_FORMS, type PartitionSettings } from "../ipam/partition-fields.ts";
import { formatPrefix, networkOf, type Prefix, parsePrefix } from "../ipam/prefix.ts";
import { LARGEST_FILE, type System } from "../system/system.ts";
import { flannelSubnets } from "./subnet-env.ts";

/** The networks that a file has, one of which is the podCIDR. */
interface Found {
  readonly source: string;
  readonly networks: readonly Prefix[];
  readonly clusterCidr: Prefix;
}

/**
 * Reads where this node is in the cluster.
 *
 * @throws CniError 999 where its podCIDR cannot be read, or is not clear
 */
export function readPartition(
  files: Pick<System, "readFile" | "list">,
  settings: PartitionSettings,
): Partition {
  const { source, networks, clusterCidr } =
    "network" in settings ? ofNetwork(files, settings) : ofFlannel(files, settings);
  const podCidrs = new Map(
    networks
      .filter((network) => isPodCidrOf(network, clusterCidr))
      .map((network) => [formatPrefix(network), network]),
  );
  const [podCidr, ...others] = podCidrs.values();
  if (podCidr !== undefined && others.length === 0) return { clusterCidr, podCidr, source };
  const found = networks.map(formatPrefix).join(", ");
  throw internalError(
    `${podCidr === undefined ? "no" : "more than one"} podCIDR of this node in ${source}`,
    `found ${found}; expected one smaller network in the cluster CIDR ${formatPrefix(clusterCidr)}`,
  );
}

function ofFlannel(
  files: Pick<System, "readFile">,
  { subnetFile, clusterCidr }: Extract<PartitionSettings, { subnetFile: string }>,
): Found {
  const [first, ...others] = flannelSubnets(readText(files, subnetFile));
  if (first === undefined) {
    throw internalError(
      `no podCIDR of this node in ${subnetFile}`,
      "neither FLANNEL_SUBNET nor FLANNEL_IPV6_SUBNET is set; expected flannel's subnet.env, at the path in ipam.partition.subnetFile",
    );
  }
  // IPv4 first: each node has one number, whatever the family of the range.
  const [network, ...further] = first.networks;
  const only = further.length === 0 ? network : undefined;
  const cluster = clusterCidr ?? only;
  if (cluster === undefined) {
    throw internalError(
      `no cluster CIDR in ${subnetFile}`,
      `found ${first.networks.length} networks of flannel for ${first.variable}; expected one, or ipam.partition.clusterCidr`,
    );
  }
  const networks = [first, ...others].map(({ subnet }) => subnet);
  return { source: subnetFile, networks, clusterCidr: cluster };
}

/** Every file counts, not the first alone: a copy that is out of date, as multus may have one, has another node's podCIDR. */
function ofNetwork(
  files: Pick<System, "readFile" | "list">,
  { network, confDir, clusterCidr }: Extract<PartitionSettings, { network: string }>,
): Found {
  const found = namesIn(files, confDir).flatMap((name) => {
    const source = `${confDir}/${name}`;
    const networks = subnetsOf(parsed(source, readText(files, source)), network);
    return networks.length === 0 ? [] : [{ source, networks }];
  });
  const [first, ...others] = found;
  if (first === undefined) {
    throw internalError(
      `no network ${network} with a subnet in ${confDir}`,
      "expected the network whose subnet is the podCIDR of this node, as ipam.partition.network",
    );
  }
  const networks = found.flatMap((file) => file.networks);
  return { source: others.length === 0 ? first.source : confDir, networks, clusterCidr };
}

/** What is cut off may be the one. */
function parsed(path: string, content: string): Json {
  try {
    return parseJson(content);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw internalError(`cannot read the podCIDR of this node: ${path}: ${error.message}`);
  }
}

function namesIn(files: Pick<System, "readFile" | "list">, confDir: string): readonly string[] {
  return configurationNames(orExplained(() => files.list(confDir), "ipam.partition.confDir"));
}

function readText(files: Pick<System, "readFile">, path: string): string {
  return orExplained(() => files.readFile(path, LARGEST_FILE), "ipam.partition");
}

/** Runs `read`, and explains its error, whose message already has the path and the cause. */
function orExplained<T>(read: () => T, key: string): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw internalError(
      `cannot read the podCIDR of this node: ${error.message}`,
      `expected ${PARTITION_FORMS} with what this node has at ${key}`,
    );
  }
}

/** Every `subnet` in the networks of a name, at any depth: they may be delegates of multus. */
function subnetsOf(document: Json, network: string): readonly Prefix[] {
  const found: Prefix[] = [];
  const pending: (readonly [Json, boolean])[] = [[document, false]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, isInside] = next;
    if (typeof value !== "object" || value === null) continue;
    const isNetwork = isInside || (isObject(value) && value.name === network);
    for (const [key, inner] of Object.entries<Json>(value)) {
      pending.push([inner, isNetwork]);
      const isSubnet = isNetwork && key === "subnet" && typeof inner === "string";
      const prefix = isSubnet ? parsePrefix(inner) : undefined;
      if (prefix !== undefined) found.push(networkOf(prefix));
    }
  }
  return found;
}
