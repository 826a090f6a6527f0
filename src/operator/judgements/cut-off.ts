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
 * @param hostInterfaces the interfaces on the node that its result has: the bridge, and the port that was made for it
 * @param namespace the id of its network namespace, as in `Link.otherEnd`; interfaces of other networks may lead there, too
 */
export function cutOffFrom(
  links: Links,
  bridgeName: string,
  hostInterfaces: readonly string[],
  namespace: number,
): CutOff | undefined {
  const all = [...links.values()];
  const ends = all.filter(({ otherEnd }) => otherEnd === namespace);
  const own = ends.filter(({ name }) => hostInterfaces.includes(name));
  const bridge = links.get(bridgeName);
  // Somebody may have given its port another name.
  const [port] = (own.length > 0 ? own : ends).filter(({ master }) => master === bridge?.index);
  if (bridge !== undefined && port !== undefined) {
    if (!bridge.isUp) return { kind: "down", link: bridge };
    return port.isUp ? undefined : { kind: "down", link: port };
  }
  const [end] = own;
  const other = end && all.find(({ index }) => index === end.master);
  return end !== undefined && other !== undefined
    ? { kind: "elsewhere", end, bridge: other }
    : { kind: "apart", end };
}
