/** A node for `gc`: the network `net` with pods that have their addresses since an hour. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { type Node, nodeFor } from "../node.ts";

export const HOUR = 3600;

/** The node, and what `gc` has left there. */
export interface NodeWithPods extends Node {
  /** Which of the first addresses of the network are reserved. */
  readonly reserved: () => readonly string[];
}

/**
 * Makes the node.
 *
 * @param prefix of the /24 that the network has, such as `198.51.100`
 * @param ids the pods' containers, which get the addresses from `.2` on
 */
export function nodeWithPods(t: Test, prefix: string, ids: readonly string[]): NodeWithPods {
  const node = nodeFor(t);
  node.network("net", { subnet: `${prefix}.0/24` });
  ids.forEach((id, index) => {
    node.call("ADD", "net", id);
    node.age(`net/${prefix}.${index + 2}`, HOUR);
  });
  return {
    ...node,
    reserved: () =>
      [2, 3, 4, 5, 6]
        .map((last) => `${prefix}.${last}`)
        .filter((name) => existsSync(join(node.dataDir, "net", name))),
  };
}

/**
 * A list that has containers of other networks, too: other tests have network namespaces with processes meanwhile, and a list
 * that has fewer containers than that is refused.
 */
export function withOthers(ids: readonly string[]): readonly string[] {
  const others = Array.from({ length: 100 }, (_, at) => `of-another-network-${at}`);
  return ids.length === 0 ? ids : [...ids, ...others];
}

/** A `--live-command` that prints the ids of these containers and the others. */
export function listOf(...ids: readonly string[]): string {
  return `printf '%s\\n' ${withOthers(ids).join(" ")}`;
}
