/** The cache is read before the reservations: those of attachments that are added meanwhile are then known. */

import { test } from "tap";
import { attachmentFindings } from "../../../src/operator/check/attachment-findings.ts";
import { runChecks } from "../../../src/operator/check/checks.ts";
import { type Node, openWholeNode } from "../../../src/operator/node/node.ts";
import { location, machineWith } from "../../store/fixtures.ts";
import { contextOf, startOperator } from "../memory-node.ts";

const options = { "--conf-dir": "/conf", "--data-dir": "/data", "--cache-dir": "/cache" };
const RESULTS = "/cache/results";

/** What of the cache and the reservations is listed first, in this order, once the networks are found. */
function listedBy(read: (node: Node) => void): readonly string[] {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.disk.makeDirectories("/conf");
  machine.disk.makeDirectories(RESULTS);
  const paths: string[] = [];
  const { system } = startOperator(machine, ({ operation, path }) => {
    if (operation.startsWith("list")) paths.push(path);
    return undefined;
  });
  const node = openWholeNode(contextOf(system, options), undefined);
  paths.length = 0;
  read(node);
  return paths.filter((path) => path === RESULTS || path === location.directory).slice(0, 2);
}

const order = [RESULTS, location.directory];

test("check reads the cache before the reservations", (t) => {
  t.same(
    listedBy((node) => runChecks(node, undefined)),
    order,
  );
  t.end();
});

test("findings on attachments are made again in the same order", (t) => {
  t.same(
    listedBy((node) => attachmentFindings(node.readAgain(), () => true)),
    order,
  );
  t.end();
});
