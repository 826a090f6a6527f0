/** Nodes of the API, and nodes without a machine: objects to which the controller gives podCIDRs all the same. */

import type { INode } from "kubernetes-models/v1";
import { kubectl } from "./kubectl.ts";

/**
 * A node without a machine.
 *
 * @param name its name
 * @param podCidr its podCIDR; if absent, the controller gives it one
 */
export function nodeNamed(name: string, podCidr?: string): INode {
  const spec = podCidr === undefined ? {} : { podCIDR: podCidr, podCIDRs: [podCidr] };
  return { apiVersion: "v1", kind: "Node", metadata: { name }, spec };
}

/** The podCIDR of each node by its name; undefined if it has none. */
export function podCidrsOfNodes(): Readonly<Record<string, string | undefined>> {
  const { items }: { readonly items: readonly INode[] } = JSON.parse(
    kubectl("get", "nodes", "--output=json"),
  );
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata?.name, spec?.podCIDR]));
}
