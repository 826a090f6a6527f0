/** libcni's cache is read before the reservations: whoever is added meanwhile has a reservation, and is not noted yet. */

import { test } from "tap";
import { attachmentFindings } from "../../../src/operator/check/attachment-findings.ts";
import { runChecks } from "../../../src/operator/check/checks.ts";
import { type Node, openWholeNode } from "../../../src/operator/node.ts";
import { location } from "../../store/fixtures.ts";
import { contextOf, memoryNode, places, RESULTS, startOperator } from "../memory-node.ts";

/** What of the cache and the reservations is listed first, in this order, once the networks are found. */
function listedBy(read: (node: Node) => unknown): readonly string[] {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
  const paths: string[] = [];
  const { system } = startOperator(machine, ({ operation, path }) => {
    if (operation.startsWith("list")) paths.push(path);
    return undefined;
  });
  const node = openWholeNode(contextOf(system, places), undefined);
  paths.length = 0;
  read(node);
  return paths.filter((path) => path === RESULTS || path === location.directory).slice(0, 2);
}

for (const [what, read] of [
  ["at first", (node: Node) => runChecks(node, undefined)],
  ["again", (node: Node) => attachmentFindings(node.readAgain(), () => true)],
] as const) {
  test(`check reads the cache before the reservations, ${what}`, async (t) => {
    t.same(listedBy(read), [RESULTS, location.directory]);
  });
}
