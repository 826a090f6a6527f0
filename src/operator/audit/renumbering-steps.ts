/** The commands that give a node another podCIDR. */

import type { ClusterNode } from "../cluster/node-list.ts";
import { shellWord } from "../output/printable.ts";

/** What to know before running them. */
export const stepsPreface = `# Renumber one node at a time, and add no nodes meanwhile: a controller might assign these podCIDRs to them.
# ssh stands for your way to run a command on the node; cni0 is the usual name of the bridge (kubenet: cbr0).
# Keep the file that is saved first: with it you can go back. The commands for a node stop when one fails.
# If a file in /etc/cni/net.d has the old podCIDR, correct it before the kubelet starts again; remove a file
# that containerd wrote from its template, or it will not change.
`;

/**
 * The commands for a node, each one line for a shell.
 *
 * `spec.podCIDR` can be set once and never changed (`ValidateNodeUpdate` of kubernetes), so a node that has one is
 * deleted and created again; it stays cordoned, since it was saved so. The kubelet is stopped meanwhile, because it would
 * create the node itself.
 *
 * @param node with a name that Kubernetes accepts
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
    // The bridge, if there is one, has the old gateway's address. Without one the kubelet must start anyway.
    `ssh ${name} 'sudo ip link delete cni0; sudo systemctl start kubelet'`,
    `kubectl delete pods --all-namespaces --field-selector ${shellWord(`spec.nodeName=${node.name}`)}`,
    `kubectl uncordon ${name}`,
  ];
}
