/** What check takes from libcni's cache: it is read before the reservations, and where it cannot be read, no empty file is free. */

import { test } from "tap";
import { attachmentFindings } from "../../../src/operator/check/attachment-findings.ts";
import { runChecks } from "../../../src/operator/check/checks.ts";
import { type Node, openWholeNode } from "../../../src/operator/node/node.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import { location } from "../../store/fixtures.ts";
import {
  configureNet,
  contextOf,
  memoryNode,
  places,
  RESULTS,
  remember,
  startOperator,
  startWithKernel,
} from "../memory-node.ts";

/** What of the cache and the reservations is listed first, in this order, once the networks are found. */
function listedBy(read: (node: Node) => void): readonly string[] {
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

const order = [RESULTS, location.directory];

test("check reads the cache before the reservations", async (t) => {
  t.same(
    listedBy((node) => runChecks(node, undefined)),
    order,
  );
});

test("findings on attachments are made again in the same order", async (t) => {
  t.same(
    listedBy((node) => attachmentFindings(node.readAgain(), () => true)),
    order,
  );
});

test("a living pod without a reservation is found, also if its address is not in its namespace", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/24");
  remember(machine, "c1", { netns: "/run/netns/a", addresses: ["10.0.0.3/24"] });
  const system = startWithKernel(machine, {
    mounted: { "/run/netns/a": 50 },
    addresses: { 50: ["169.254.1.1"] },
  });

  const findings = attachmentFindings(
    openWholeNode(contextOf(system, places), undefined),
    () => true,
  );

  t.match(findings, [{ code: "live-without-reservation", path: "/data/net/10.0.0.3" }]);
});

test("an empty reservation is not repairable where the cache, which would tell who uses it, cannot be read", async (t) => {
  const repairableWith = (interrupt?: Interrupt): readonly (string | undefined)[] => {
    const machine = memoryNode({ "10.0.0.2": "" });
    machine.wait(60_000);
    const { system } = startOperator(machine, interrupt);
    const { findings } = runChecks(openWholeNode(contextOf(system, places), undefined), undefined);
    return findings
      .filter(({ code }) => code === "empty-reservation")
      .map(({ repairable }) => repairable?.name);
  };

  t.same(repairableWith(), ["10.0.0.2"]);
  t.same(repairableWith(refuse("list", "EIO", RESULTS)), [undefined]);
});
