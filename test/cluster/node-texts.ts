/** Nodes as kubectl prints them. */

/** The members of a node that a test sets. */
export interface WrittenNode {
  readonly name: string;
  readonly podCidrs?: readonly string[];
  readonly pods?: string;
  readonly created?: string;
  readonly isCordoned?: boolean;
  /** Of the type InternalIP. */
  readonly addresses?: readonly string[];
}

/** A node object as kubectl prints it, with few of the members that are not read. */
export function nodeObject(node: WrittenNode): object {
  const { name, podCidrs = [], pods = "110", created, isCordoned = false, addresses = [] } = node;
  const [podCIDR] = podCidrs;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      creationTimestamp: created ?? "2024-05-01T10:00:00Z",
      labels: { "kubernetes.io/hostname": name },
      name,
      resourceVersion: "12345",
      uid: "7a3c0000-0000-4000-8000-000000000000",
    },
    spec: {
      ...(podCIDR === undefined ? {} : { podCIDR, podCIDRs: podCidrs }),
      ...(isCordoned ? { unschedulable: true } : {}),
    },
    status: {
      addresses: [
        ...addresses.map((address) => ({ address, type: "InternalIP" })),
        { address: name, type: "Hostname" },
      ],
      allocatable: { cpu: "8", memory: "32752000Ki", pods },
      capacity: { cpu: "8", memory: "32855000Ki", pods },
      conditions: [{ message: "kubelet is posting ready status", status: "True", type: "Ready" }],
    },
  };
}

/** What `kubectl get nodes -o json` prints. */
export function nodesJson(nodes: readonly WrittenNode[]): string {
  const list = {
    apiVersion: "v1",
    items: nodes.map(nodeObject),
    kind: "List",
    metadata: { resourceVersion: "" },
  };
  return `${JSON.stringify(list, null, 4)}\n`;
}
