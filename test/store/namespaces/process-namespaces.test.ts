/** The network namespaces of processes, as `/proc` shows them. */

import { test } from "tap";
import { NamespaceStates } from "../../../src/store/namespaces/namespace-state.ts";
import { Namespaces } from "../../../src/store/namespaces/namespaces.ts";
import {
  addressesBy,
  interfaceAddresses,
  localAddresses,
  nodeNamespaceOf,
  readProcesses,
  readProcessNamespaces,
} from "../../../src/store/namespaces/process-namespaces.ts";
import { SystemError } from "../../../src/system/system.ts";
import { NODE_NAMESPACE, systemOf } from "../../operator/node/proc.ts";
import { refusing } from "./refusing.ts";

/** A process of the node itself. */
const node = { namespace: NODE_NAMESPACE, addresses: ["127.0.0.1", "192.0.2.1"] };

test("only local addresses of the routing table count", async (t) => {
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
});

test("addresses of IPv6 are in their canonical form", async (t) => {
  const table =
    "fd000000000000000000000000000007 02 40 00 80     eth0\nfe80000000000000a8bbccfffeddeeff 02 40 20 80     eth0\n";

  t.same(interfaceAddresses(table), ["fd00::7", "fe80::a8bb:ccff:fedd:eeff"]);
});

test("each namespace is found once, apart from that of the node, by whoever may inspect processes or only their tables", async (t) => {
  const pod = { namespace: 70, addresses: ["10.7.10.2"] };
  // The first thread of 7 has ended.
  const machine = { processes: { 7: pod, 8: pod, 80: node }, zombies: { 7: 9 } };
  for (const [isUnprivileged, id] of [
    [false, "net:[70]"],
    [true, undefined],
  ] as const) {
    const found = readProcesses(systemOf({ ...machine, isUnprivileged }));
    t.same(found, {
      namespaces: [{ id, processId: 7, addresses: new Set(["10.7.10.2"]) }],
      ofNode: ["1", "80", "99"],
      nodeAddresses: new Set(node.addresses),
      incomplete: undefined,
    });
  }
});

test("the namespace of the node is known to who sees the processes of the host, and runs in it or may look", async (t) => {
  const inPod = { 99: { namespace: 70 } };
  for (const [machine, expected] of [
    [{}, `net:[${NODE_NAMESPACE}]`],
    [{ isUnprivileged: true }, `net:[${NODE_NAMESPACE}]`],
    [{ processes: inPod }, `net:[${NODE_NAMESPACE}]`],
    [{ processes: inPod, isUnprivileged: true }, undefined],
    [{ isContained: true }, undefined],
  ] as const) {
    t.equal(nodeNamespaceOf(systemOf(machine)), expected, JSON.stringify(machine));
  }
  const { ofNode, nodeAddresses } = readProcesses(systemOf({ isContained: true }));
  t.same([ofNode, nodeAddresses], [[], new Set()]);
});

test("where the first process is protected, the kernel's own shows the namespace of the node", async (t) => {
  const system = systemOf({ processes: { 2: node, 99: { namespace: 70 } } });
  const isProtected = refusing(system, ["readLink"], /^\/proc\/1\/ns\/net$/, "EACCES");
  t.equal(nodeNamespaceOf(isProtected), `net:[${NODE_NAMESPACE}]`);

  const unseen = refusing(isProtected, ["status"], /./, "EACCES");
  t.equal(nodeNamespaceOf(unseen), undefined, "nor are its tables seen");
});

test("a namespace whose tables cannot be read is told once, however many processes it has", async (t) => {
  const pod = { namespace: 70, addresses: ["10.7.10.2"] };
  const found = readProcesses(systemOf({ processes: { 7: pod, 8: pod }, unreadable: [7] }));
  t.same(found.namespaces, []);
  t.match(found.incomplete, "open /proc/7/net/if_inet6: file too large");
});

test("a process whose threads cannot be listed may be in any namespace, one that has ended meanwhile in none", async (t) => {
  const system = systemOf({ processes: { 7: { namespace: 70 } }, zombies: { 7: 9 } });
  for (const [code, incomplete] of [
    ["EACCES", "process 7 may not be inspected"],
    ["ENOENT", undefined],
    ["ESRCH", undefined],
  ] as const) {
    const found = readProcessNamespaces(refusing(system, ["list"], /\/7\/task$/, code));
    t.equal(found.incomplete, incomplete, code);
    t.notOk(found.processes.has("net:[70]"));
  }
  const ended = refusing(system, ["readLink"], /^\/proc\/7\//, "ESRCH");
  t.equal(readProcessNamespaces(ended).incomplete, undefined);
});

test("a process that has ended meanwhile is left out", async (t) => {
  const system = systemOf({ processes: { 99: { namespace: 70 } }, isUnprivileged: true });
  const list = (): readonly string[] => ["1", "7", "99"];
  t.same(readProcesses({ ...system, list }).ofNode, ["1"]);

  const failing =
    (code: string, ...tables: readonly string[]) =>
    (table: string): string => {
      if (tables.includes(table)) throw new SystemError("open", table, code);
      return table === "fib_trie" ? "|-- 10.88.0.7\n   /32 host LOCAL\n" : "";
    };
  for (const code of ["ENOENT", "ESRCH", "EINVAL"]) {
    t.equal(addressesBy(failing(code, "if_inet6", "fib_trie")), undefined, code);
    t.same(addressesBy(failing(code, "if_inet6")), new Set(["10.88.0.7"]), "without IPv6");
  }
  t.throws(() => addressesBy(failing("EIO", "if_inet6")), { code: "EIO" });
});

test("where processes cannot be listed or not be looked at, as with hidepid=1, some namespace may be missing", async (t) => {
  const processes = { 7: { namespace: 70 } };
  const seen = systemOf({ processes });
  const unprivileged = systemOf({ processes, isUnprivileged: true });
  for (const system of [
    refusing(seen, ["list"], /^\/proc$/, "ENFILE"),
    refusing(unprivileged, ["status"], /^\/proc\/[0-9]+\//, "EPERM"),
    refusing(seen, ["readLink", "status"], /^\/proc\/7\//, "ENOMEM"),
  ]) {
    t.type(new Namespaces(system).incomplete, "string");
    const one = { inode: "70", path: "/run/netns/pod" };
    t.equal(new NamespaceStates(system).stateOf(one, () => []).kind, "unseen");
  }
});

test("the namespaces of processes, without the addresses there", async (t) => {
  const processes = { 7: { namespace: 70 }, 8: { namespace: 71 }, 80: node };
  const { processes: found, ...others } = readProcessNamespaces(
    systemOf({ processes, zombies: { 8: 9 } }),
  );
  t.same(
    [...found],
    [
      ["net:[1]", "99"],
      ["net:[70]", "7"],
      ["net:[71]", "8"],
    ],
  );
  t.same(others, { ofNode: ["1", "80", "99"], incomplete: undefined });

  const unseen = readProcessNamespaces(systemOf({ processes, isUnprivileged: true }));
  t.equal(unseen.incomplete, "process 7 may not be inspected");
  t.same(unseen.ofNode, ["1", "80", "99"]);
  t.match(readProcessNamespaces(systemOf({ isContained: true })).incomplete, /not seen from here$/);
});
