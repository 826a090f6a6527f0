/** libcni's cache is read before the reservations: whoever is added meanwhile has a reservation, and is not noted yet. */

import { test } from "tap";
import type { Context } from "../../../src/cli/command/command.ts";
import { attachmentFindings } from "../../../src/operator/check/attachment-findings.ts";
import { runChecks } from "../../../src/operator/check/checks.ts";
import { openWholeNode } from "../../../src/operator/node.ts";
import { location } from "../../store/fixtures.ts";
import { contextOf, memoryNode, places, RESULTS, startOperator } from "../memory-node.ts";

/** What of the cache and the reservations is listed first, in this order. */
function listedBy(read: (context: Context, restart: () => void) => unknown): readonly string[] {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
  const paths: string[] = [];
  const { system } = startOperator(machine, ({ operation, path }) => {
    if (operation.startsWith("list")) paths.push(path);
    return undefined;
  });
  read(contextOf(system, places), () => {
    paths.length = 0;
  });
  return paths.filter((path) => path === RESULTS || path === location.directory).slice(0, 2);
}

for (const [what, read] of [
  ["at first", (context: Context) => runChecks(openWholeNode(context, undefined), undefined)],
  [
    "again",
    (context: Context, restart: () => void) => {
      const node = openWholeNode(context, undefined);
      restart();
      attachmentFindings(node.readAgain(), () => true);
    },
  ],
] as const) {
  test(`check reads the cache before the reservations, ${what}`, async (t) => {
    t.same(listedBy(read), [RESULTS, location.directory]);
  });
}
