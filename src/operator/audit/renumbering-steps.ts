/** How to give a node another podCIDR: the commands, one by one. */

import type { ClusterNode } from "../cluster/node-list.ts";
import { shellWord } from "../output/printable.ts";

/** What is to be known before the first of them. */
export const stepsPreface = `# One node at a time, and no new nodes meanwhile: a controller might give them these blocks.
# ssh stands for your way to run a command on the node; cni0 is the bridge's usual name (kubenet: cbr0).
# The file that is saved first is the way back. Each block below stops at the first command that fails.
# Where a file in /etc/cni/net.d names the old block, correct it before the kubelet starts again; one that
# containerd wrote from its template is to be removed, or it stays as it is.
`;

/**
 * The commands for a node, each a line for a shell.
 *
 * `spec.podCIDR` can be set once and never changed (`ValidateNodeUpdate` of kubernetes), so a node that has one is
 * deleted and created anew; still cordoned, since it was saved so. The kubelet stands still meanwhile: it would create
 * the node itself.
 *
 * @param node its name is one that Kubernetes accepts
 * @param podCidrs the new ones
 */
export function stepsFor(node: ClusterNode, podCidrs: readonly string[]): readonly string[] {
  const name = shellWord(node.name);
  const saved = shellWord(`${node.name}.yaml`);
  const changed = shellWord(`${node.name}.new.yaml`);
  const spec = { podCIDR: podCidrs[0] ?? "", podCIDRs: podCidrs };
  if (node.podCidrs.length === 0) {
    return [
      `kubectl get node ${name} -o yaml > ${saved}`,
      `kubectl patch node ${name} --type merge -p ${shellWord(JSON.stringify({ spec }))}`,
    ];
  }
  const change = {
    metadata: { uid: null, resourceVersion: null, creationTimestamp: null },
    spec,
    status: null,
  };
  return [
    `kubectl cordon ${name}`,
    `kubectl get node ${name} -o yaml > ${saved}`,
    `kubectl patch --local -f ${saved} --type merge -o yaml -p ${shellWord(JSON.stringify(change))} > ${changed}`,
    `kubectl drain ${name} --ignore-daemonsets --delete-emptydir-data`,
    `ssh ${name} sudo systemctl stop kubelet`,
    `kubectl delete node ${name}`,
    `kubectl create -f ${changed}`,
    // The bridge has the old gateway's address, if there is one; the kubelet must start anyway.
    `ssh ${name} 'sudo ip link delete cni0; sudo systemctl start kubelet'`,
    `kubectl delete pods --all-namespaces --field-selector ${shellWord(`spec.nodeName=${node.name}`)}`,
    `kubectl uncordon ${name}`,
  ];
}
