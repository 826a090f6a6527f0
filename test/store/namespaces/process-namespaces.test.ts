/** The network namespaces of real processes. */

import { test } from "tap";
import {
  interfaceAddresses,
  localAddresses,
  readProcesses,
} from "../../../src/store/namespaces/process-namespaces.ts";
import { createNodeOperatorSystem } from "../../../src/system/node/operator-system.ts";
import { processWith, skipOutsideHost } from "../../harness/network-namespaces.ts";
import { systemOf } from "../../operator/node/proc.ts";

test("a process is found with the addresses of both families in its namespace", {
  skip: skipOutsideHost,
}, async (t) => {
  const processId = await processWith(t, "10.7.10.2/24", "fd74:10::2/64");

  const found = readProcesses(createNodeOperatorSystem()).namespaces.find(({ addresses }) =>
    addresses.has("10.7.10.2"),
  );

  t.equal(found?.processId, processId);
  t.ok(found?.addresses.has("fd74:10::2"));
});

test("each namespace is found once, and that of the node not at all", (t) => {
  const pod = { namespace: 70, addresses: ["10.7.10.2"] };
  const { namespaces: found } = readProcesses(systemOf({ processes: { 7: pod, 8: pod } }));

  t.same(
    found.map(({ id, processId }) => [id, processId]),
    [["net:[70]", 7]],
  );
  t.end();
});

test("who may not inspect processes finds their addresses, without the name of the namespace", (t) => {
  const pod = { namespace: 70, addresses: ["10.7.10.2"] };
  const system = systemOf({ processes: { 7: pod, 8: pod }, isUnprivileged: true });

  t.same(readProcesses(system).namespaces, [
    { id: undefined, processId: 7, addresses: new Set(["10.7.10.2"]) },
  ]);
  t.end();
});

test("only local addresses of the routing table count", (t) => {
  const table = [
    "Main:",
    "  +-- 0.0.0.0/0 3 0 5",
    "     |-- 0.0.0.0",
    "        /0 universe UNICAST",
    "     +-- 10.88.0.0/16 2 0 2",
    "        |-- 10.88.0.0",
    "           /16 link UNICAST",
    "        |-- 10.88.0.7",
    "           /32 host LOCAL",
    "        |-- 10.88.255.255",
    "           /32 link BROADCAST",
    "",
  ].join("\n");

  t.same(localAddresses(table), ["10.88.0.7"]);
  t.end();
});

test("addresses of IPv6 are in their canonical form", (t) => {
  const table =
    "fd000000000000000000000000000007 02 40 00 80     eth0\nfe80000000000000a8bbccfffeddeeff 02 40 20 80     eth0\n";

  t.same(interfaceAddresses(table), ["fd00::7", "fe80::a8bb:ccff:fedd:eeff"]);
  t.end();
});
