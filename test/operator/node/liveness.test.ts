/** Whether a container is alive, by libcni's cache and the network namespaces of processes. */

import { test } from "tap";
import { LivenessChecker, livenessOfAll } from "../../../src/operator/node/liveness.ts";
import { type CachedAttachment, ResultsCache } from "../../../src/operator/node/results-cache.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { attachment } from "../../store/fixtures.ts";
import { contextOf, startOperator } from "../memory-node.ts";
import { type Machine, NODE_NAMESPACE, systemOf } from "./proc.ts";
import { reservationOf } from "./reservation.ts";

/** The container of every reservation here. */
const container = attachment("c1");
const own = reservationOf({ kind: "attachment", ...container }, "10.7.9.2");
const legacy = reservationOf({ kind: "legacy", containerId: container.containerId }, "10.7.9.2");

function cached(changed: Partial<CachedAttachment> = {}): CachedAttachment {
  return {
    network: "net",
    ...container,
    networkNamespace: "/run/netns/cni-1",
    addresses: ["10.7.9.2"],
    pod: "",
    ...changed,
  };
}

/** A checker on a machine, with libcni's cache of these attachments. */
function checkerOn(machine: Machine, attachments: readonly CachedAttachment[]): LivenessChecker {
  return new LivenessChecker(systemOf(machine), cacheOf(attachments));
}

function cacheOf(attachments: readonly CachedAttachment[]): ResultsCache {
  const machine = new MemoryMachine();
  const directory = "/var/lib/cni/results";
  machine.disk.makeDirectories(directory);
  for (const { network, containerId, interfaceName, networkNamespace, addresses } of attachments) {
    const result = { ips: addresses.map((address) => ({ address: `${address}/24` })) };
    const names = { networkName: network, containerId, ifName: interfaceName };
    const entry = { ...names, netns: networkNamespace, result };
    machine.disk.put(
      `${directory}/${network}-${containerId}-${interfaceName}`,
      JSON.stringify(entry),
    );
  }
  return new ResultsCache(contextOf(startOperator(machine).system));
}

const another = { processes: { 7: { namespace: 70, addresses: ["127.0.0.1", "10.7.9.3"] } } };

const cases: Readonly<Record<string, [Machine, Partial<CachedAttachment> | undefined, string]>> = {
  "its namespace is mounted": [
    { mounted: { "/run/netns/cni-1": 50 } },
    {},
    "alive: its network namespace /run/netns/cni-1 exists",
  ],
  "its namespace is that of this process, which runs in its pod": [
    { mounted: { "/run/netns/cni-1": 50 }, processes: { 99: { namespace: 50 } } },
    {},
    "alive: its network namespace /run/netns/cni-1 exists",
  ],
  "a process has its address, and the cache does not know it": [
    { processes: { 7: { namespace: 70, addresses: ["10.7.9.2"] } } },
    undefined,
    "alive: process 7 runs in a network namespace with this address",
  ],
  "a process has its address, and the cache names no namespace": [
    { processes: { 7: { namespace: 70, addresses: ["10.7.9.2"] } } },
    { networkNamespace: "" },
    "alive: process 7 runs in a network namespace with this address",
  ],
  "a process has its address, and the namespace in the cache is gone": [
    {
      mounted: { "/run/netns/cni-2": 50 },
      processes: { 7: { namespace: 70, addresses: ["10.7.9.2"] } },
    },
    {},
    "alive: process 7 runs in a network namespace with this address",
  ],
  "its namespace is gone, and others are mounted": [
    { mounted: { "/run/netns/cni-2": 50 }, files: ["/run/netns/cni-3"] },
    {},
    "dead: its network namespace /run/netns/cni-1 is gone",
  ],
  "its namespace is gone, and no others are mounted": [
    { files: ["/run/netns/cni-3"] },
    {},
    "unknown: whether its network namespace /run/netns/cni-1 exists cannot be seen from here",
  ],
  "a plain file is where its namespace was": [
    { mounted: { "/run/netns/cni-2": 50 }, files: ["/run/netns/cni-1"] },
    {},
    "unknown: whether its network namespace /run/netns/cni-1 exists cannot be seen from here",
  ],
  "its process runs": [
    { processes: { 7: { namespace: 70, addresses: ["10.7.9.2"] } } },
    { networkNamespace: "/proc/7/ns/net" },
    "alive: its network namespace /proc/7/ns/net exists",
  ],
  "its process runs, and nothing is known of its addresses": [
    { processes: { 7: { namespace: 70 } } },
    { networkNamespace: "/proc/7/ns/net", addresses: [] },
    "alive: its network namespace /proc/7/ns/net exists",
  ],
  "its process has ended": [
    another,
    { networkNamespace: "/proc/8/ns/net" },
    "dead: its network namespace /proc/8/ns/net is gone",
  ],
  "its process has ended, in a container that does not see the processes of the host": [
    { ...another, isContained: true },
    { networkNamespace: "/proc/8/ns/net" },
    "unknown: whether its network namespace /proc/8/ns/net exists cannot be seen from here",
  ],
  "the id of its process is that of a process of the node by now": [
    { processes: { 7: { namespace: NODE_NAMESPACE, addresses: ["192.0.2.1"] } } },
    { networkNamespace: "/proc/7/ns/net" },
    "dead: its network namespace /proc/7/ns/net is gone",
  ],
  "the id of its process is that of another container's by now": [
    another,
    { networkNamespace: "/proc/7/ns/net" },
    "unknown: process 7, whose network namespace it had, now has other addresses",
  ],
  "this user may not inspect its process": [
    { ...another, isUnprivileged: true },
    { networkNamespace: "/proc/7/ns/net" },
    "unknown: whether its network namespace /proc/7/ns/net exists cannot be seen from here",
  ],
  "only the node itself has the address": [
    { processes: { 1: { namespace: NODE_NAMESPACE, addresses: ["10.7.9.2"] } } },
    undefined,
    "unknown: libcni's cache does not know its container",
  ],
  "nothing is known": [another, undefined, "unknown: libcni's cache does not know its container"],
  "the cache names no namespace": [
    another,
    { networkNamespace: "" },
    "unknown: libcni's cache names no network namespace for it",
  ],
  "the cache names no path": [
    another,
    { networkNamespace: "netns" },
    "unknown: whether its network namespace netns exists cannot be seen from here",
  ],
  "the cache knows another interface only": [
    { mounted: { "/run/netns/cni-1": 50 } },
    { interfaceName: "net1" },
    "unknown: libcni's cache does not know its container",
  ],
  "the cache knows another network only": [
    { mounted: { "/run/netns/cni-1": 50 } },
    { network: "other" },
    "unknown: libcni's cache does not know its container",
  ],
};

for (const [name, [machine, entry, expected]] of Object.entries(cases)) {
  test(`${expected.replace(/:.*/, "")}: ${name}`, (t) => {
    const attachments = entry === undefined ? [] : [cached(entry)];
    const { liveness, reason } = checkerOn(machine, attachments).livenessOf(own);

    t.equal(`${liveness}: ${reason}`, expected);
    t.end();
  });
}

test("a reservation without an interface lives as long as any attachment of its container", (t) => {
  const machine = { mounted: { "/run/netns/cni-1": 50 } };
  const gone = cached({ networkNamespace: "/run/netns/cni-0" });
  const attachments = [gone, cached({ interfaceName: "net1" })];
  const checker = checkerOn(machine, attachments);

  t.equal(checker.livenessOf(own).liveness, "dead");
  t.equal(checker.livenessOf(legacy).liveness, "alive");
  t.equal(cacheOf(attachments).attachmentsOf(legacy).length, 2);
  t.end();
});

test("a container that one of its addresses shows to be alive is alive with all of them", (t) => {
  const checker = checkerOn(
    {
      mounted: { "/run/netns/cni-2": 50 },
      processes: { 7: { namespace: 70, addresses: ["10.7.9.2"] } },
    },
    [cached(), cached({ containerId: "c2" })],
  );
  const other = reservationOf({ kind: "attachment", ...container }, "fd74::2");
  const dead = reservationOf({ kind: "attachment", ...attachment("c2") }, "10.7.9.3");

  const results = livenessOfAll([other, own, dead], checker);

  t.equal(checker.livenessOf(other).liveness, "dead");
  t.strictSame(
    [other, own, dead].map((one) => results.get(one)?.liveness),
    ["alive", "alive", "dead"],
  );
  t.end();
});

test("an attachment of the cache is alive by any of its addresses", (t) => {
  const ipv6 = { namespace: 70, addresses6: ["fd740000000000000000000000000007"] };
  const checker = checkerOn({ processes: { 7: ipv6 } }, []);

  const both = cached({ networkNamespace: "", addresses: ["10.7.9.2", "fd74::7"] });
  t.equal(checker.livenessOfAttachment(both).liveness, "alive");
  t.equal(checker.livenessOfAttachment(cached({ networkNamespace: "" })).liveness, "unknown");
  t.same(
    checker.namespacesWith("fd74::7").map(({ processId }) => processId),
    [7],
  );
  t.end();
});
