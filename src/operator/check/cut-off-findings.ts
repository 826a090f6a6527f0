/** Findings on living pods that are cut off from the bridge of their network, as after the bridge was deleted. */

import { containerOf, keyOf } from "../../store/reservations/owner.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { Links } from "../facts/links.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import { endingContainers } from "../judgements/calls.ts";
import { type CutOff, cutOffFrom } from "../judgements/cut-off.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { describeHolder } from "./holder.ts";

/**
 * Checks whether the pods of the `bridge` plugin are at their bridges. Only what is certain is told: libcni's cache shows that an
 * interface was made for the bridge that is configured now, and the kernel has an id for its namespace.
 */
export function cutOffFindings(node: Node): readonly Finding[] {
  const links = node.links();
  if (links === undefined || !node.liveness.whose.isInNode()) return [];
  const calls = node.calls();
  const ending = endingContainers(calls.kind === "seen" ? calls.records : []);
  return node.asked.flatMap((directory) => {
    const names = new Set(directory.networks.flatMap(({ bridgeName }) => bridgeName ?? []));
    return [...names].flatMap((name) => findingsAt(node, links, directory, name, ending));
  });
}

function findingsAt(
  node: Node,
  links: Links,
  directory: NetworkDirectory,
  bridgeName: string,
  ending: ReadonlySet<string>,
): readonly Finding[] {
  const ofPods = new Map<string, Finding>();
  for (const { reservation: held, conclusion } of node.liveness.livenessIn(directory)) {
    if (conclusion.liveness !== "alive" || ending.has(containerOf(held.owner))) continue;
    const isOfBridge = ({ hostInterfaces }: CachedAttachment): boolean =>
      hostInterfaces.includes(bridgeName);
    const attachment = node.cache.knownOf(held).attachments.find(isOfBridge);
    const namespace = attachment && namespaceOf(node, held, attachment);
    if (namespace === undefined) continue;
    const cutOff = cutOffFrom(links, bridgeName, attachment?.hostInterfaces ?? [], namespace);
    if (cutOff === undefined) continue;
    const message = `${describeHolder(node, held)} is cut off from ${bridgeName}: ${formatCutOff(cutOff)}`;
    const about = { network: directory.files.network, path: held.path, file: held, message };
    // A pod of both families holds two addresses, but is one finding.
    const pod = keyOf(held.owner) ?? held.path;
    ofPods.set(pod, { code: "pods-cut-off", ...about, ...adviceOn(cutOff) });
  }
  return [...ofPods.values()];
}

/** The id that the node's namespace has for that of an attachment; `undefined` where it is not certain. */
function namespaceOf(
  { facts }: Node,
  reservation: NodeReservation,
  { networkNamespace }: CachedAttachment,
): number | undefined {
  const fate = facts.fateOf(reservation);
  const state = facts.at(networkNamespace);
  const id =
    fate?.kind === "alive" ? fate.namespace : state.kind === "exists" ? state.id : undefined;
  const namespace = id === undefined ? undefined : facts.namespaces().withId(id);
  const linked = namespace && facts.linkedIdOf(namespace);
  return typeof linked === "number" ? linked : undefined;
}

function formatCutOff(cutOff: CutOff): string {
  switch (cutOff.kind) {
    case "down":
      return `${cutOff.link.name} is down`;
    case "elsewhere":
      return `its interface (${cutOff.end.name}) is at ${cutOff.bridge.name}`;
    case "apart":
      return cutOff.end === undefined
        ? "it has no interface that leads to the node"
        : `its interface (${cutOff.end.name}) is at no bridge`;
  }
}

function adviceOn(cutOff: CutOff): Partial<Finding> {
  if (cutOff.kind !== "down") return {};
  return {
    remedy: "set it up: the pods keep their addresses",
    commands: [{ run: [["ip", "link", "set", "dev", cutOff.link.name, "up"]] }],
  };
}
