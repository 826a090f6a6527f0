/** Whether a pod of the `bridge` plugin is cut off from its bridge, by the links of the node alone. */

import type { Link, Links } from "../facts/links.ts";

/** What keeps a pod from its bridge. */
export type CutOff =
  /** The bridge, or where it is up the pod's port of it, is down. */
  | { readonly kind: "down"; readonly link: Link }
  /** Its interface is at another bridge. */
  | { readonly kind: "elsewhere"; readonly end: Link; readonly bridge: Link }
  /** Its interface is at no bridge, or `end` is `undefined`: it has none that leads to the node any more. */
  | { readonly kind: "apart"; readonly end: Link | undefined };

/**
 * What keeps a pod from the bridge that its interface was made for; `undefined` where nothing is seen to.
 *
 * @param namespace the id of its network namespace, as in `Link.otherEnd`; another interface of it may lead to the node, too
 */
export function cutOffFrom(
  links: Links,
  bridgeName: string,
  namespace: number,
): CutOff | undefined {
  const all = [...links.values()];
  const ends = all.filter(({ otherEnd }) => otherEnd === namespace);
  const bridge = links.get(bridgeName);
  const ports = ends.filter(({ master }) => master === bridge?.index);
  const [port] = ports;
  if (bridge !== undefined && port !== undefined) {
    if (!bridge.isUp) return { kind: "down", link: bridge };
    return ports.some(({ isUp }) => isUp) ? undefined : { kind: "down", link: port };
  }
  const end = ends.find(({ master }) => master !== 0) ?? ends[0];
  const other = end && all.find(({ index }) => index === end.master);
  return end !== undefined && other !== undefined
    ? { kind: "elsewhere", end, bridge: other }
    : { kind: "apart", end };
}
