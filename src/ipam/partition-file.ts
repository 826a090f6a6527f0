/** What `ipam.partition` names: the file of this node that has its podCIDR. */

import { configurationNames } from "../cni/configuration-files.ts";
import { internalError } from "../cni/error.ts";
import {
  isObject,
  type Json,
  type Located,
  memberInAnyCase,
  parseJson,
  text,
  typeMismatch,
} from "../cni/json.ts";
import { absolutePath, parsePrefixField } from "./fields.ts";
import { isPodCidrOf, type Partition } from "./partition.ts";
import { formatPrefix, networkOf, type Prefix, parsePrefix } from "./prefix.ts";
import type { FileReader } from "./ranges-file.ts";
import { flannelSubnets } from "./subnet-env.ts";

/** Where the podCIDR is, as configured. */
export type PartitionSettings =
  | { readonly subnetFile: string; readonly clusterCidr: Prefix | undefined }
  | { readonly network: string; readonly confDir: string; readonly clusterCidr: Prefix };

/** Reads files, and lists the names in a directory. */
export interface DirectoryReader extends FileReader {
  list(path: string): readonly string[];
}

/** Where runtimes have the network configurations, unless `confDir` says otherwise. */
const DEFAULT_CONF_DIR = "/etc/cni/net.d";

/** A larger file is refused, in bytes. */
const LARGEST_FILE = 16 * 1024 * 1024;

const FORMS =
  '{"subnetFile": "/run/flannel/subnet.env"} or {"network": "containerd", "clusterCidr": "10.244.0.0/16"}';

/**
 * Reads the key.
 *
 * @throws CniError 999 where a member is invalid, or it is not clear which file is meant
 */
export function partitionSettings(at: Located | undefined): PartitionSettings | undefined {
  if (at === undefined) return undefined;
  if (!isObject(at.value)) throw typeMismatch(at, FORMS);
  const subnetFile = absolutePath(memberInAnyCase(at, "subnetFile"));
  const network = text(memberInAnyCase(at, "network"), "the name of a network");
  const confDir = absolutePath(memberInAnyCase(at, "confDir"));
  const cidr = memberInAnyCase(at, "clusterCidr");
  const clusterCidr = cidr && parsePrefixField(cidr);
  if (subnetFile !== "" && network === "" && confDir === "") return { subnetFile, clusterCidr };
  if (subnetFile === "" && network !== "" && clusterCidr !== undefined) {
    return { network, confDir: confDir || DEFAULT_CONF_DIR, clusterCidr };
  }
  throw internalError("invalid partition", `expected ${FORMS} at ${at.path}`);
}

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
export function readPartition(files: DirectoryReader, settings: PartitionSettings): Partition {
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
  files: FileReader,
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
  files: DirectoryReader,
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
  const networks = found.flatMap((one) => one.networks);
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

function namesIn(files: DirectoryReader, confDir: string): readonly string[] {
  return configurationNames(orExplained(() => files.list(confDir), "ipam.partition.confDir"));
}

function readText(files: FileReader, path: string): string {
  return orExplained(() => files.readFile(path, LARGEST_FILE), "ipam.partition");
}

/** What the system throws has the path and the cause in its message. */
function orExplained<T>(read: () => T, key: string): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw internalError(
      `cannot read the podCIDR of this node: ${error.message}`,
      `expected ${FORMS} with what this node has at ${key}`,
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
