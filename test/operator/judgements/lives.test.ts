/** Whether a container is alive, by the network namespaces of the node and libcni's cache. */

import { test } from "tap";
import { ResultsCache } from "../../../src/operator/alive/cache/results-cache.ts";
import { NodeLifeFacts } from "../../../src/operator/facts/life-facts.ts";
import type {
  NetworkDirectory,
  NodeReservation,
} from "../../../src/operator/held/network-directory.ts";
import { Lives } from "../../../src/operator/judgements/lives.ts";
import type { Conclusion } from "../../../src/store/life/conclusion.ts";
import type { OperatorSystem } from "../../../src/system/operator-system.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { type Machine, NODE_NAMESPACE, systemOf } from "../../harness/proc.ts";
import type { CacheEntry } from "../../harness/results-cache.ts";
import { attachmentCall, configuration } from "../../harness/runtime-call.ts";
import { attachment, location, machineWith, withNetwork } from "../../store/fixtures.ts";
import { refusing } from "../../store/namespaces/refusing.ts";
import { directoryOn, reservationOf } from "../held/reservation.ts";
import { contextOf, memoryNode, places, remember, startOperator } from "../memory-node.ts";

/** The container of every reservation here. */
const container = attachment("c1");
const owner = { kind: "attachment", ...container } as const;
const own = reservationOf(owner);
const legacy = reservationOf({ kind: "legacy", containerId: container.containerId });

/** An entry of libcni's cache, of that container in the network `net` unless it says otherwise. */
interface Entry extends CacheEntry {
  readonly network?: string;
  readonly containerId?: string;
}

function livesBy(system: OperatorSystem, cache: ResultsCache, directory: NetworkDirectory): Lives {
  return new Lives(new NodeLifeFacts(system, cache, [directory]));
}

/** Who lives on a machine, with libcni's cache of these entries, and these reservations. */
function livesOn(
  machine: Machine,
  entries: readonly Entry[],
  reservations: Readonly<Record<string, string>> = {},
): Lives {
  const disk = machineWith(reservations);
  const directory = directoryOn(startOperator(disk).system);
  return livesBy(systemOf(machine), cacheOf(entries), directory);
}

function lifeOf(reservation: NodeReservation, lives: Lives): Conclusion {
  const [known] = lives.livenessOf([reservation]);
  if (known === undefined) throw new Error("expected a conclusion on each reservation");
  return known.conclusion;
}

function cacheOf(entries: readonly Entry[]): ResultsCache {
  const machine = memoryNode({});
  const usual = { netns: "/run/netns/cni-1", addresses: ["10.7.9.2/24"] };
  for (const { network = "net", containerId = container.containerId, ...entry } of entries) {
    remember(machine, containerId, { ...usual, ...entry }, network);
  }
  return new ResultsCache(contextOf(startOperator(machine).system, places));
}

/** Another pod, whose reservation is there. */
const other = { namespace: 70, addresses: ["127.0.0.1", "10.7.9.3"] };
const another = { processes: { 7: other } };
const stranger = { namespace: 80, addresses: ["172.17.0.2"] };
const reserved = { "10.7.9.3": "c2\r\neth0" };
const mountedAt = (inode: number) => ({ "/run/netns/cni-1": inode });

const processHasIt = "alive by process: process 7 runs in a network namespace with this address";
const exists = "its network namespace /run/netns/cni-1 exists";
const gone = "dead by cache: its network namespace /run/netns/cni-1 is gone";
const allKnown =
  "dead by namespaces: no network namespace has the address, and all of the node are known";
const notKnown =
  "unknown by view: no process has the address, and the namespace of its container is not known";
const unseen =
  "unknown by view: whether its network namespace /run/netns/cni-1 exists cannot be seen from here";
const noProcesses = "the processes of the node are not seen from here";

const cases: Readonly<Record<string, [Machine, Entry | undefined, string]>> = {
  "a process has its address, and the cache does not know it": [
    { processes: { 7: { namespace: 70, addresses: ["10.7.9.2"] } } },
    undefined,
    processHasIt,
  ],
  "a mounted namespace has its address, and the cache does not know it": [
    { mounted: { "/run/netns/x": 50 }, addresses: { 50: ["10.7.9.2"] } },
    undefined,
    "alive by idle: the network namespace /run/netns/x has this address; no process runs there",
  ],
  "its namespace is mounted, but has moved its address away": [
    { mounted: mountedAt(50), addresses: { 50: ["169.254.1.1"] } },
    {},
    `alive by namespace: ${exists}`,
  ],
  "its namespace is mounted, cannot be entered, and a process runs there": [
    { mounted: mountedAt(50), processes: { 7: { namespace: 50 } }, isConfined: true },
    {},
    `alive by process: ${exists}`,
  ],
  "its namespace is that of this process, which runs in its pod": [
    { mounted: mountedAt(50), processes: { 99: { namespace: 50 } } },
    {},
    `alive by process: ${exists}`,
  ],
  "its namespace is gone, and every other one is that of another container": [another, {}, gone],
  "its namespace is gone, and no others are mounted, in a container": [
    { isContained: true },
    {},
    `${unseen}; ${noProcesses}`,
  ],
  "its process runs, and nothing is known of its addresses": [
    { processes: { 7: { namespace: 70 } } },
    { netns: "/proc/7/ns/net", addresses: [] },
    "alive by process: its network namespace /proc/7/ns/net exists",
  ],
  "the id of its process is that of another container's by now": [
    another,
    { netns: "/proc/7/ns/net" },
    allKnown,
  ],
  "only the node itself has the address, and every namespace is known": [
    { processes: { 1: { namespace: NODE_NAMESPACE, addresses: ["10.7.9.2"] } } },
    undefined,
    "alive by address: the node itself has this address",
  ],
  "every namespace is that of another container": [another, undefined, allKnown],
  "a service has a namespace with nothing but lo": [
    { processes: { 7: other, 8: { namespace: 80 } } },
    undefined,
    allKnown,
  ],
  "a namespace has foreign addresses": [
    { processes: { 7: other, 8: stranger } },
    undefined,
    `${notKnown}; the network namespace /proc/8/ns/net belongs to no known container`,
  ],
  "not all processes are seen, and the cache names no namespace": [
    { ...another, isContained: true },
    { netns: "" },
    `${notKnown}; ${noProcesses}`,
  ],
  "the cache knows another interface only": [
    { mounted: mountedAt(50), isContained: true },
    { interfaceName: "net1" },
    `${notKnown}; ${noProcesses}`,
  ],
  "the cache knows another network only": [
    { mounted: mountedAt(50), isContained: true },
    { network: "other" },
    `${notKnown}; ${noProcesses}`,
  ],
};

for (const [name, [machine, entry, expected]] of Object.entries(cases)) {
  test(`${expected.replace(/:.*/, "")}: ${name}`, async (t) => {
    const entries = entry === undefined ? [] : [entry];
    const conclusion = lifeOf(own, livesOn(machine, entries, reserved));

    t.equal(`${conclusion.liveness} by ${conclusion.by}: ${conclusion.reason}`, expected);
  });
}

test("where a process runs in a namespace of nobody known, a path that is gone shows nothing", async (t) => {
  const stranger = { namespace: 80, addresses: ["172.17.0.2"] };
  const processes = { 7: other, 8: stranger };
  const why = "; process 8 runs in a network namespace that belongs to no known container";
  for (const netns of ["/run/netns/cni-1", "/proc/9/ns/net"]) {
    const conclusion = lifeOf(own, livesOn({ processes }, [{ netns }], reserved));
    t.match(conclusion, {
      liveness: "unknown",
      by: "view",
      reason: `its network namespace ${netns} is gone${why}`,
    });
    const ofAnother = { containerId: "c3", netns: "/proc/8/ns/net", addresses: ["172.17.0.2/24"] };
    const named = lifeOf(own, livesOn({ processes }, [{ netns }, ofAnother], reserved));
    t.equal(named.liveness, "dead", "it is that of another container");
  }
  const contained = { isContained: true, shared: ["/run/netns"] };
  for (const [seen, liveness] of [
    [{ 7: other, 8: stranger }, "unknown"],
    [{ 7: other }, "dead"],
  ] as const) {
    const lives = livesOn({ ...contained, processes: seen }, [{}], reserved);
    t.equal(lifeOf(own, lives).liveness, liveness, "on a node that is a container");
  }
  const hidden = refusing(systemOf({ processes: { 7: other } }), ["list"], /^\/proc$/, "ENFILE");
  const directory = directoryOn(startOperator(machineWith(reserved)).system);
  const lives = livesBy(hidden, cacheOf([{}]), directory);
  t.equal(lifeOf(own, lives).liveness, "unknown", "no process is seen");
});

test("libcni's cache is believed of nothing from before this boot, nor of its namespace", async (t) => {
  const path = "/run/netns/cni-1";
  const machine = new MemoryMachine();
  const document = configuration("/data", { subnet: "10.7.9.0/24" });
  const add = (containerId: string, netns: string): void => {
    machine.namespaces.set(netns, 70n);
    machine.runPlugin(attachmentCall("ADD", { containerId, netns }, document));
  };
  add("c1", path);
  machine.boot();
  add("c2", "/run/netns/cni-2");
  machine.disk.put(`${location.directory}/10.7.9.9`, "c9\r\neth0");
  const directory = directoryOn(startOperator(machine).system);
  // The path leads to a namespace again, another program's, in which a virtual machine may have the address of c9.
  const kernel = {
    processes: { 7: { namespace: 50 } },
    mounted: { [path]: 50 },
    isConnected: true,
  };
  const lives = livesBy(systemOf(kernel), cacheOf([{}]), directory);

  const [first, , third] = lives.livenessOf(directory.reservations);

  t.match(first, {
    conclusion: { liveness: "dead", by: "boot", reason: "it is from before this boot of the node" },
  });
  t.match(third?.conclusion, { liveness: "unknown", by: "view" });
});

test("what is linked with another network namespace than the node's is not asked for", async (t) => {
  for (const [processes, isAsked] of [
    [{}, true],
    [{ 99: { namespace: 70 } }, false],
  ] as const) {
    let asked = 0;
    const linkedAddresses = (): string => {
      asked++;
      return "a070902 3\n";
    };
    const system = { ...systemOf({ processes }), linkedAddresses };
    const directory = directoryOn(startOperator(machineWith(reserved)).system);
    const lives = livesBy(system, cacheOf([]), directory);
    const { liveness, reason } = lifeOf(own, lives);
    t.equal(liveness, isAsked ? "alive" : "unknown");
    t.match(reason, isAsked ? "linked with the node's has" : "is not seen from this one");
    t.equal(asked > 0, isAsked);
  }
});

test("an address in no namespace is not dead if it need not be a container's of this node", async (t) => {
  const remote = new MemoryMachine();
  remote.isShared = true;
  const shared = directoryOn(startOperator(remote).system);
  const kept = directoryOn(startOperator(new MemoryMachine()).system, { reclaims: false });
  for (const [reservation, doubt] of [
    [legacy, "it names no interface, as what administrators reserve"],
    [reservationOf(owner, "10.7.9.2", shared), "other machines may use its directory"],
    [
      reservationOf(owner, "10.7.9.2", kept),
      'with "reclaim": "never" it need not be a container\'s',
    ],
  ] as const) {
    const conclusion = lifeOf(reservation, livesOn(another, [], reserved));
    t.equal(`${conclusion.liveness} by view: ${conclusion.reason}`, `${notKnown}; ${doubt}`);
    const known = lifeOf(reservation, livesOn(another, [{}], reserved));
    t.equal(`${known.liveness} by ${known.by}: ${known.reason}`, gone, "but by its own");
  }
});

test("a namespace whose address was moved away is its container's, by libcni's cache", async (t) => {
  const moved = { mounted: mountedAt(80), addresses: { 80: ["169.254.1.1"] } };
  const ofAnother = { containerId: "c3" };
  t.equal(lifeOf(own, livesOn(moved, [], reserved)).liveness, "unknown");
  t.equal(lifeOf(own, livesOn(moved, [ofAnother], reserved)).liveness, "dead");

  const ofProcess = { processes: { 7: { namespace: 70, addresses: ["169.254.1.1"] } } };
  const stale = { ...ofAnother, netns: "/proc/7/ns/net" };
  t.equal(lifeOf(own, livesOn(ofProcess, [stale], reserved)).liveness, "unknown");
  const right = { ...stale, addresses: ["169.254.1.1/24"] };
  t.equal(lifeOf(own, livesOn(ofProcess, [right], reserved)).liveness, "dead");
});

test("the containers beside a reservation hold other addresses of its namespace", async (t) => {
  const both = { namespace: 70, addresses: ["10.7.9.2", "10.7.9.3"] };
  const lives = livesOn({ processes: { 7: both } }, [], reserved);
  t.strictSame(lives.whose.containersBeside(own), ["c2"]);
});

test("a reservation without an interface lives as long as any attachment of its container", async (t) => {
  const machine = { mounted: { "/run/netns/cni-1": 50 } };
  const entries = [{ netns: "/run/netns/cni-0" }, { interfaceName: "net1" }];
  const lives = livesOn(machine, entries);

  t.equal(lifeOf(own, lives).liveness, "dead");
  t.equal(lifeOf(legacy, lives).liveness, "alive");
  t.equal(cacheOf(entries).knownOf(legacy).attachments.length, 2);
});

test("a container that one of its addresses shows to be alive is alive with all of them", async (t) => {
  const process = { namespace: 70, addresses: ["10.7.9.2"] };
  const moved = reservationOf(owner, "fd74::2");
  const inNetwork = { "10.7.9.2": "c1\r\neth0", "10.7.9.3": "c2\r\neth0" };

  const lives = livesOn({ processes: { 7: process } }, [], inNetwork);

  t.match(lifeOf(moved, lives), {
    liveness: "alive",
    by: "process",
    reason: "process 7 runs in a network namespace with another address of its container",
  });
  const dead = reservationOf({ kind: "attachment", ...attachment("c2") }, "10.7.9.3");
  t.equal(lifeOf(dead, lives).liveness, "dead");
});

test("a container alive by one of its interfaces, by libcni's cache, is alive with all", async (t) => {
  const lives = livesOn({ mounted: mountedAt(50) }, [{}]);
  const moved = reservationOf({ kind: "attachment", ...attachment("c1", "net1") }, "10.7.9.9");
  const dead = reservationOf({ kind: "attachment", ...attachment("c2") }, "10.7.9.3");

  const results = lives.livenessOf([moved, own, dead]);

  t.strictSame(
    results.map(({ reservation, conclusion }) => [reservation, conclusion.liveness]),
    [
      [moved, "alive"],
      [own, "alive"],
      [dead, "dead"],
    ],
  );
});

test("an attachment of the cache is alive by any of its addresses", async (t) => {
  const ipv6 = { namespace: 70, addresses6: ["fd740000000000000000000000000007"] };
  const lives = livesOn({ processes: { 7: ipv6 } }, []);

  const livenessWith = (...addresses: readonly string[]) =>
    lives.livenessOfAttachment({ networkNamespace: "", addresses }).liveness;
  t.equal(livenessWith("10.7.9.2", "fd74::7"), "alive");
  t.equal(livenessWith("10.7.9.2"), "unknown");
  const users = lives.whose.with("fd74::7").map(({ processId }) => processId);
  t.same(users, [7]);
});

/** What is concluded of the first reservation in a directory, without libcni's cache. */
function concludedIn(directory: NetworkDirectory, machine: Machine): Conclusion | undefined {
  const lives = livesBy(systemOf(machine), cacheOf([]), directory);
  return lives.livenessOf(directory.reservations)[0]?.conclusion;
}

test("what was reserved only just now may be about to get its address", async (t) => {
  const machine = machineWith({});
  machine.time = Date.now();
  machine.disk.put(`${location.directory}/10.7.9.9`, "c9\r\neth0");
  const directory = directoryOn(startOperator(machine).system);
  t.match(concludedIn(directory, another), {
    liveness: "unknown",
    reason: /; it was reserved only just now$/,
  });
});

test("what a journal that cannot be read may tell of a reservation is not known", async (t) => {
  const machine = machineWith({ "10.7.9.9": "c9\r\neth0" });
  withNetwork(machine.start(), (network) => network.allOwned());
  const unread = refuse("findLines", "EIO", `${location.stateDirectory}/journal`);
  const directory = directoryOn(startOperator(machine, unread).system);
  t.match(concludedIn(directory, another), { liveness: "unknown", by: "unread" });
});

test("a recorded namespace whose file cannot be looked at lives while the node's mounts show it", async (t) => {
  const path = "/run/netns/a";
  const machine = new MemoryMachine();
  machine.namespaces.set(path, 70n);
  const document = configuration("/data", { subnet: "10.7.9.0/24" });
  machine.runPlugin(attachmentCall("ADD", { containerId: "c1", netns: path }, document));
  const directory = directoryOn(startOperator(machine, refuse("status", "EACCES", path)).system);
  const kernel = { mounted: { [path]: 70 }, isConfined: true };
  t.match(concludedIn(directory, kernel), {
    liveness: "alive",
    reason: `its network namespace ${path} exists`,
  });
});
