/** `ipam.partition`: which file of this node has its podCIDR. */

import { internalError } from "../cni/error.ts";
import { isObject, type Located, memberInAnyCase, text, typeMismatch } from "../cni/json.ts";
import { absolutePath, parsePrefixField } from "./fields.ts";
import type { Prefix } from "./prefix.ts";

/** Where the podCIDR is, as configured. */
export type PartitionSettings =
  | { readonly subnetFile: string; readonly clusterCidr: Prefix | undefined }
  | { readonly network: string; readonly confDir: string; readonly clusterCidr: Prefix };

/** The keys of `ipam.partition`. */
export const partitionKeys = ["subnetFile", "network", "confDir", "clusterCidr", "ranges"] as const;

/** A member of `ipam.partition`. */
const member: (at: Located, key: (typeof partitionKeys)[number]) => Located | undefined =
  memberInAnyCase;

/** Where runtimes have the network configurations, unless `confDir` says otherwise. */
const DEFAULT_CONF_DIR = "/etc/cni/net.d";

/** What the key may be, for errors. */
export const PARTITION_FORMS =
  '{"subnetFile": "/run/flannel/subnet.env"} or {"network": "containerd", "clusterCidr": "10.244.0.0/16"}';

/**
 * Reads the key.
 *
 * @throws CniError 999 where a member is invalid, or it is not clear which file is meant
 */
export function partitionSettings(at: Located | undefined): PartitionSettings | undefined {
  if (at === undefined) return undefined;
  if (!isObject(at.value)) throw typeMismatch(at, PARTITION_FORMS);
  const subnetFile = absolutePath(member(at, "subnetFile"));
  const network = text(member(at, "network"), "the name of a network");
  const confDir = absolutePath(member(at, "confDir"));
  const cidr = member(at, "clusterCidr");
  const clusterCidr = cidr && parsePrefixField(cidr);
  if (subnetFile !== "" && network === "" && confDir === "") return { subnetFile, clusterCidr };
  if (subnetFile === "" && network !== "" && clusterCidr !== undefined) {
    return { network, confDir: confDir || DEFAULT_CONF_DIR, clusterCidr };
  }
  throw internalError("invalid partition", `expected ${PARTITION_FORMS} at ${at.path}`);
}
