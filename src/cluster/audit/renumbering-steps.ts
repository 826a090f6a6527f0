/** The commands that give a node another podCIDR. */

import { shellQuote, shellWord } from "../../cli/output/shell-word.ts";
import type { ClusterNode } from "../nodes/node-cidrs.ts";

/** The commands for a node, each one line for a shell; each is to run only if the one before succeeded. */
interface Steps {
  readonly commands: readonly string[];
  /** What undoes them once the node has been drained; empty where nothing is deleted. */
  readonly undo: readonly string[];
}

/** What to know before running them. */
export const stepsPreface = `# Renumber one node at a time: unless it runs with --allocate-node-cidrs=false, kube-controller-manager assigns
# podCIDRs, too, perhaps one that is proposed here. The commands check for that, and stop when one fails. Then go on
# with the command that failed, or go back: from the beginning they would stop again.
# ssh stands for your way to run a command on the node. cni0 is the usual name of the bridge (kubenet: cbr0); it has
# the old gateway's address, and may be deleted because the node is drained.
# Where containerd has a conf_template, the configuration that it wrote to /etc/cni/net.d is removed, so that it writes
# a new one. Any other file there that has the old podCIDR: correct it before the kubelet starts.
`;

/** What to do when all nodes have been renumbered, if some of them shared addresses. */
export const restartController = `# After the last deletion, and before any new node: restart kube-controller-manager. It takes the podCIDRs of the deleted
# nodes for free, although other nodes still have these addresses, and would assign them to new nodes.
`;

/** The fields that the API server does not accept in a new object. The status stays: without capacity kubelet 1.20 panics. */
const ofTheOldObject = { metadata: { uid: null, resourceVersion: null, creationTimestamp: null } };

/** Each node with its podCIDRs. */
const podCidrsOfNodes = `kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDRs[*]}{"\\n"}{end}'`;

/** The configuration that containerd writes from its template, when the kubelet tells it the podCIDR and it has none. */
const removeGenerated =
  'if sudo containerd config dump 2>/dev/null | grep -q "conf_template = ./"; then sudo rm -f /etc/cni/net.d/10-containerd-net.conflist; fi';

/**
 * The commands for a node.
 *
 * `spec.podCIDR` can be set once and never changed (`ValidateNodeUpdate` of kubernetes), so a node that has one is
 * deleted and created again; it stays cordoned, since it was saved so, and if it was before, also in the end. The kubelet is
 * stopped meanwhile, because it would create the node itself.
 *
 * @param podCidrs the new ones
 */
export function stepsFor(node: ClusterNode, podCidrs: readonly string[]): Steps {
  const { name } = node;
  const former = node.cidrs.map(({ text }) => text);
  const saved = `${name}.yaml`;
  const changed = `${name}.new.yaml`;
  const spec = shellWord(
    JSON.stringify({ spec: { podCIDR: podCidrs[0] ?? "", podCIDRs: podCidrs } }),
  );
  const added = podCidrs.filter((cidr) => !former.includes(cidr)).map((cidr) => `-e ${cidr}`);
  const search = `used=$(${podCidrsOfNodes}) && ! echo "$used" | grep -wF ${added.join(" ")}`;
  const check = added.length === 0 ? [] : [search];
  if (former.length === 0) {
    return { commands: [...check, `kubectl patch node ${name} --type merge -p ${spec}`], undo: [] };
  }
  const before = shellWord([name, ...former].join(" "));
  const unchanged = `${podCidrsOfNodes} | grep -qxF ${before}`;
  const stop = `ssh ${name} sudo systemctl stop kubelet`;
  const start = [
    // The drain must have ended, or its pods hang in Terminating; the kubelet must be down, or the file is not written again.
    `ssh ${name} ${shellQuote(removeGenerated)}`,
    // The kubelet must start even if there is no bridge.
    `ssh ${name} 'sudo ip link delete cni0; sudo systemctl start kubelet'`,
    `kubectl delete pods --all-namespaces --field-selector ${shellWord(`spec.nodeName=${name}`)}`,
    ...(node.isCordoned ? [] : [`kubectl uncordon ${name}`]),
  ];
  return {
    commands: [
      // The check comes before any change: it fails, too, if the commands have been run already.
      ...(added.length === 0 ? [unchanged] : check),
      `kubectl cordon ${name}`,
      `kubectl get node ${name} -o yaml | kubectl patch --local -f - --type merge -o yaml -p ${shellWord(JSON.stringify(ofTheOldObject))} > ${saved}`,
      `kubectl patch --local -f ${saved} --type merge -o yaml -p ${spec} > ${changed}`,
      `kubectl drain ${name} --ignore-daemonsets --delete-emptydir-data`,
      stop,
      `kubectl delete node ${name}`,
      // The drain may have taken long.
      ...check,
      `kubectl create -f ${changed}`,
      ...start,
    ],
    undo: [
      stop,
      `kubectl delete node ${name} --ignore-not-found`,
      `kubectl create -f ${saved}`,
      ...start,
    ],
  };
}
